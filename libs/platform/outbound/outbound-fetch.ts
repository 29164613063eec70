import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { OutboundError, toOutboundError } from './outbound-errors.js';
import type { PrivateHosts } from './private-hosts.js';

export type OutboundRequest = {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | URLSearchParams | null;
  readonly signal?: AbortSignal | null;
};

/** Sends a request to another server, and returns its whole response. Throws `OutboundError`. */
export type OutboundFetch = (url: string | URL, request?: OutboundRequest) => Promise<Response>;

export type OutboundOptions = {
  /** Null if an administrator of the site has chosen the address: private addresses are then reached too. */
  readonly privateHosts: PrivateHosts | null;
  /** Milliseconds for the whole request. */
  readonly timeoutMs?: number;
  /** Bytes of the largest body of a response. */
  readonly maxBytes?: number;
  /**
   * Whether only the beginning of a body counts: a longer body is cut instead of a failure, and so is one that does not
   * end in time. For requests whose result is the status.
   */
  readonly cutBodies?: boolean;
  /** Whether a redirect is an answer. Otherwise it is a failure. Nothing follows redirects. */
  readonly returnsRedirects?: boolean;
  /** Certificates of the authorities to trust instead of those that Node trusts (PEM). */
  readonly ca?: string;
};

const DEFAULT_TIMEOUT_MS = 5_000;
const DEFAULT_MAX_BYTES = 1_048_576;

/** Statuses that allow no body, not even an empty one. */
const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Resolves a host name, and fails if one of its addresses is not permitted. The connection then uses the addresses that
 * were checked, so a name that changes its address between check and connection reaches nothing.
 */
const createCheckedLookup =
  (privateHosts: PrivateHosts): LookupFunction =>
  (host, options: LookupOptions, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses: readonly LookupAddress[]) => {
      if (error) return callback(error, '');
      if (addresses.some(({ address }) => !privateHosts.permits(host, address))) {
        return callback(new OutboundError(host, 'private-address'), '');
      }
      if (options.all) return callback(null, [...addresses]);
      const [first] = addresses as readonly [LookupAddress];
      return callback(null, first.address, first.family);
    });
  };

/** Refuses an address that is written in the URL itself, because nothing resolves it. */
const checkLiteral = (host: string, privateHosts: PrivateHosts | null): void => {
  const address = host.replaceAll(/^\[|\]$/g, '');
  if (privateHosts && isIP(address) !== 0 && !privateHosts.permits(address, address)) {
    throw new OutboundError(address, 'private-address');
  }
};

type ReadableBody = {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>; cancel(): Promise<void> };
};

type ReadableResponse = { readonly body: ReadableBody | null; arrayBuffer(): Promise<ArrayBuffer> };

/** Returns the first bytes of a body, at most `maxBytes`. After an error, returns the bytes that have arrived. */
const readBeginning = async (body: ReadableBody | null, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  const reader = body?.getReader();
  try {
    for (let length = 0; reader && length < maxBytes;) {
      const { done, value } = await reader.read();
      if (done || !value) break;
      chunks.push(value);
      length += value.length;
    }
    await reader?.cancel();
  } catch {
    // The status has arrived. The rest of the body does not matter.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
};

type ConnectionOptions = Required<Pick<OutboundOptions, 'privateHosts' | 'timeoutMs' | 'maxBytes'>> & {
  readonly ca: string | undefined;
};

/** Loads `undici` at the first request: a start of the server would otherwise load its 109 modules. */
const prepareRequests = async ({ privateHosts, timeoutMs, maxBytes, ca }: ConnectionOptions) => {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent({
    // Requests are rare, and kept connections would delay the end of the process.
    pipelining: 0,
    maxResponseSize: maxBytes,
    connect: {
      timeout: timeoutMs,
      ...(ca !== undefined && { ca }),
      ...(privateHosts && { lookup: createCheckedLookup(privateHosts) }),
    },
  });
  return { send: fetch, dispatcher };
};

/**
 * Returns a `fetch` for servers that callers or administrators have named: with limits of time and size, and to
 * permitted addresses only. It follows no redirects. It ignores the variables for proxies.
 */
export const createOutboundFetch = ({
  privateHosts,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  maxBytes = DEFAULT_MAX_BYTES,
  cutBodies = false,
  returnsRedirects = false,
  ca,
}: OutboundOptions): OutboundFetch => {
  const prepare = () => prepareRequests({ privateHosts, timeoutMs, maxBytes: cutBodies ? -1 : maxBytes, ca });
  const readBody = (response: ReadableResponse) =>
    cutBodies ? readBeginning(response.body, maxBytes) : response.arrayBuffer();
  let prepared: ReturnType<typeof prepare> | null = null;
  return async (url, { method = 'GET', headers = {}, body = null, signal = null } = {}) => {
    const { hostname } = new URL(url);
    checkLiteral(hostname, privateHosts);
    const { send, dispatcher } = await (prepared ??= prepare());
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(url, {
        method,
        headers: [...new Headers(headers)],
        body,
        redirect: returnsRedirects ? 'manual' : 'error',
        dispatcher,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      const { status } = response;
      // Read here, so that a body over the limits is the same error.
      const content = STATUSES_WITHOUT_BODY.has(status) ? null : await readBody(response);
      return new Response(content, { status, headers: [...response.headers] });
    } catch (error) {
      throw toOutboundError(hostname, error);
    }
  };
};

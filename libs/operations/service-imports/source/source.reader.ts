import { OutboundError, type OutboundFetch } from '#platform/outbound';
import { ImportSourceError } from './source-errors.js';
import { parseForeignPage, parseForeignResource, type ForeignResource } from './source-documents.js';

export type SourceConnection = {
  /** The address of the server, such as `https://app.terraform.io`. */
  readonly address: URL;
  readonly token: string;
  readonly requestsPerSecond: number;
  /** Reads documents of the source, and files of the source. The operator has named its address. */
  readonly documents: OutboundFetch;
  readonly files: OutboundFetch;
  /** Reads files of other servers, to which the source refers. Private addresses need a permission. */
  readonly foreignFiles: OutboundFetch;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
};

const PAGE_SIZE = 100;
/** A server whose lists do not end would keep the import busy for ever. */
const MAX_PAGES = 10_000;
const MAX_REDIRECTS = 5;
const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const SECOND_MS = 1_000;

const isPassing = (status: number): boolean => status === 429 || status >= 500;

/** Returns the pause that the server asks for, or one that doubles with each attempt. */
const computePause = (response: Response | null, attempt: number): number => {
  const seconds = Number(
    response?.headers.get('retry-after') ?? response?.headers.get('x-ratelimit-reset') ?? Number.NaN,
  );
  const requestedMs = Number.isFinite(seconds) && seconds > 0 ? seconds * SECOND_MS : 0;
  return Math.min(MAX_PAUSE_MS, Math.max(requestedMs, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
};

/** Reads another server within its limits. What it sends is hostile until it has been checked. */
export class SourceReader {
  /** The requests so far. */
  requests = 0;
  /** Resources in lists that are none. They are left out. */
  malformed = 0;
  private nextAt = 0;

  constructor(private readonly connection: SourceConnection) {}

  /** Returns the resource at a path; null if there is none, or the token may not read it. */
  async find(path: string): Promise<ForeignResource | null> {
    const response = await this.send(this.toUrl(path), 'documents');
    if (response.status === 404 || response.status === 403) return null;
    return this.parse(path, response, parseForeignResource);
  }

  /** Yields the resources of all pages. Yields none if the token may not read the list, or the server does not have it. */
  async *list(path: string, filters: Readonly<Record<string, string>> = {}): AsyncGenerator<ForeignResource> {
    for (let number = 1; number <= MAX_PAGES; number += 1) {
      const url = this.toUrl(path);
      const query = { ...filters, 'page[number]': String(number), 'page[size]': String(PAGE_SIZE) };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      const response = await this.send(url, 'documents');
      if (response.status === 404 || response.status === 403) return;
      const { resources, malformed, next } = await this.parse(path, response, parseForeignPage);
      this.malformed += malformed;
      yield* resources;
      // Pages are counted here: the numbers of a hostile server could form a circle.
      if (next === null || resources.length + malformed === 0) return;
    }
    throw new ImportSourceError(`${path} has more than ${MAX_PAGES} pages`);
  }

  /** Returns the bytes of a file. Its address may belong to another server, which does not get the token. */
  async download(address: string): Promise<Uint8Array> {
    const url = URL.parse(address, this.connection.address.href);
    if (!url) throw new ImportSourceError('a state has an address that is no URL');
    const response = await this.send(url, 'files');
    if (response.status !== 200) throw new ImportSourceError(`${url.host} answered ${response.status} for a state`);
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw new ImportSourceError(`${url.host} did not return a complete state`, { cause: error });
    }
  }

  /** Locks or unlocks a workspace. Returns whether the source agreed. */
  async changeLock(workspace: string, action: 'lock' | 'unlock', reason: string): Promise<boolean> {
    const body = JSON.stringify(action === 'lock' ? { reason } : {});
    const response = await this.send(
      this.toUrl(`/api/v2/workspaces/${workspace}/actions/${action}`),
      'documents',
      body,
    );
    return response.status === 200;
  }

  private toUrl(path: string): URL {
    return new URL(path, this.connection.address);
  }

  private async parse<T>(path: string, response: Response, read: (document: unknown) => T): Promise<T> {
    if (response.status !== 200)
      throw new ImportSourceError(describeStatus(path, response.status), { endsImport: response.status === 401 });
    try {
      return read(await response.json());
    } catch (error) {
      throw new ImportSourceError(`${path} did not return a document of the API`, { cause: error });
    }
  }

  private async send(url: URL, kind: 'documents' | 'files', body: string | null = null): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.follow(url, kind, body).catch((error: unknown) => this.toFailure(error));
      if (response instanceof Response && !isPassing(response.status)) return response;
      if (attempt === MAX_ATTEMPTS) {
        const reason = response instanceof Response ? `answered ${response.status}` : 'could not be reached';
        throw new ImportSourceError(`${url.host} ${reason}, ${MAX_ATTEMPTS} times`, {
          cause: response,
          endsImport: !(response instanceof Response) && kind === 'documents',
        });
      }
      await this.connection.pause(computePause(response instanceof Response ? response : null, attempt));
    }
  }

  /** Returns an error after which another attempt can succeed. Throws all others. */
  private toFailure(error: unknown): OutboundError {
    if (error instanceof OutboundError && ['timeout', 'unreachable'].includes(error.failure)) return error;
    throw error instanceof OutboundError ? new ImportSourceError(error.message, { cause: error }) : error;
  }

  private async follow(first: URL, kind: 'documents' | 'files', body: string | null): Promise<Response> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await this.request(url, kind, body);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null || body !== null) return response;
      const target = URL.parse(location, url.href);
      if (!target) throw new ImportSourceError(`${url.host} redirected to an address that is no URL`);
      url = target;
    }
    throw new ImportSourceError(`${first.host} redirected more than ${MAX_REDIRECTS} times`);
  }

  private async request(url: URL, kind: 'documents' | 'files', body: string | null): Promise<Response> {
    const { address, token, documents, files, foreignFiles } = this.connection;
    await this.keepRate();
    this.requests += 1;
    const accept = kind === 'documents' ? 'application/vnd.api+json' : 'application/json, */*';
    if (url.origin === address.origin) {
      const headers = { accept, authorization: `Bearer ${token}` };
      const change =
        body === null ? { headers } : { method: 'POST', body, headers: { ...headers, 'content-type': accept } };
      return (kind === 'documents' ? documents : files)(url, change);
    }
    if (kind === 'documents') throw new ImportSourceError(`${address.host} redirected a request to ${url.host}`);
    if (url.protocol !== 'https:') throw new ImportSourceError(`${url.host}: a state has an address without TLS`);
    return foreignFiles(url, { headers: { accept } });
  }

  private async keepRate(): Promise<void> {
    const { now, pause, requestsPerSecond } = this.connection;
    const wait = this.nextAt - now();
    this.nextAt = Math.max(now(), this.nextAt) + SECOND_MS / requestsPerSecond;
    if (wait > 0) await pause(wait);
  }
}

const describeStatus = (path: string, status: number): string =>
  status === 401 ? 'the source refused the token' : `${path} was answered with ${status}`;

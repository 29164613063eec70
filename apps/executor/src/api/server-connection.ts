import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Backoff, getErrorCode, type Logger } from '#platform/kernel';

const JSON_API = 'application/vnd.api+json';
const OCTETS = 'application/octet-stream';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
const MAX_RETRY_AFTER_MS = 60_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** The server answers a request that waits so long after its wait, at the latest. */
const ANSWER_SECONDS = 10;
const FILE_TIMEOUT_MS = 600_000;
const MAX_DETAIL = 1_000;

/** A request that the server, or the storage of files, has answered and refused. Repeating it does not help. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';

  constructor(
    readonly status: number,
    readonly detail: string,
    /** The offset at which the log continues, if a part of it was refused. */
    readonly offset: number | null,
  ) {
    super(`the server answers ${status}: ${detail}`);
  }
}

/** A failure that may be temporary: no response, a server error, or too many requests. */
class TemporaryFailure extends Error {
  override readonly name = 'TemporaryFailure';

  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}

type SentBody = Uint8Array<ArrayBuffer> | Blob | null;

type ServerRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** A path on the server, or a signed URL. */
  readonly target: string;
  readonly token: string | null;
  readonly contentType: string;
  readonly body: SentBody;
  readonly timeoutMs: number;
  /** Ends the request and its retries. */
  readonly signal: AbortSignal;
};

/** Reads a successful response. If it fails, the request is repeated. */
type ReadResponse<T> = (response: Response) => Promise<T>;

const readText: ReadResponse<string> = (response) => response.text();

const errorDocument = z.object({
  errors: z
    .array(
      z.object({
        title: z.string().optional(),
        detail: z.string().optional(),
        meta: z.object({ offset: z.number().optional() }).optional(),
      }),
    )
    .min(1),
});

const parseRefusal = (status: number, text: string): RefusedRequestError => {
  try {
    const { errors } = errorDocument.parse(JSON.parse(text));
    const detail = errors.map((one) => one.detail ?? one.title ?? '').join(' ');
    return new RefusedRequestError(status, detail.slice(0, MAX_DETAIL), errors[0]?.meta?.offset ?? null);
  } catch {
    return new RefusedRequestError(status, 'the response is not a JSON:API document', null);
  }
};

const parseRetryAfter = (value: string | null): number =>
  /^\d{1,6}$/.test(value ?? '') ? Math.min(Number(value) * 1_000, MAX_RETRY_AFTER_MS) : 0;

/** The deepest cause says why: the outer error says only `fetch failed`. */
const describeNetworkError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
  return (error.cause ?? first) ? describeNetworkError(error.cause ?? first) : error.message;
};

/** Errors of the disk, which a repeated request does not correct. */
const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EACCES', 'EROFS', 'EEXIST'];

/** Sends requests until there is an answer that is not temporary, with growing pauses. */
export class ServerConnection {
  constructor(
    readonly server: URL,
    private readonly logger: Logger,
  ) {}

  /** Sends a JSON:API resource. Resolves to the parsed response. */
  async post<S extends z.ZodType>(
    target: string,
    token: string,
    resource: { readonly type: string; readonly attributes: object },
    schema: S,
    { signal, waitSeconds = 0 }: { readonly signal: AbortSignal; readonly waitSeconds?: number },
  ): Promise<z.output<S>> {
    const body = Buffer.from(JSON.stringify({ data: resource }));
    // A renewal whose connection is dead must be repeated before its lease ends.
    const timeoutMs = waitSeconds > 0 ? (waitSeconds + ANSWER_SECONDS) * 1_000 : REQUEST_TIMEOUT_MS;
    const request = { method: 'POST', target, token, contentType: JSON_API, body, timeoutMs, signal } as const;
    return parseResponse(schema, await this.send(request, readText), target);
  }

  /** Uploads bytes. Resolves to the text of the response. */
  put(
    target: string,
    token: string | null,
    body: Uint8Array<ArrayBuffer> | Blob,
    { signal, contentType = OCTETS }: { readonly signal: AbortSignal; readonly contentType?: string },
  ): Promise<string> {
    const request = { method: 'PUT', target, token, contentType, body, timeoutMs: FILE_TIMEOUT_MS, signal } as const;
    return this.send(request, readText);
  }

  /** Downloads a file. */
  download(target: string, token: string | null, path: string, signal: AbortSignal): Promise<void> {
    const timeoutMs = FILE_TIMEOUT_MS;
    const request = { method: 'GET', target, token, contentType: OCTETS, body: null, timeoutMs, signal } as const;
    return this.send(request, async ({ body }) => {
      const file = createWriteStream(path, { mode: 0o600 });
      await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body), file);
    });
  }

  private async send<T>(request: ServerRequest, read: ReadResponse<T>): Promise<T> {
    const { signal } = request;
    const backoff = new Backoff({
      logger: this.logger,
      subject: 'request to the server',
      fields: { method: request.method, path: describeTarget(request.target) },
      firstMs: FIRST_RETRY_MS,
      maxMs: MAX_RETRY_MS,
    });
    for (;;) {
      try {
        const result = await this.sendOnce(request, read);
        backoff.succeeded();
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof TemporaryFailure)) throw error;
        const pause = backoff.failed(error);
        // Executors that lost the server at the same time return at different times.
        await sleep(Math.max(pause * (0.5 + Math.random()), error.retryAfterMs), undefined, { signal });
      }
    }
  }

  private async sendOnce<T>(request: ServerRequest, read: ReadResponse<T>): Promise<T> {
    const { method, target, token, contentType, body, timeoutMs } = request;
    const url = new URL(target, this.server);
    const headers = {
      accept: `${JSON_API}, application/json, */*`,
      ...(body === null ? {} : { 'content-type': contentType }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    try {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
      const response = await fetch(url, { method, headers, body, signal });
      if (response.ok) return await read(response);
      const text = await response.text();
      if (response.status < 500 && response.status !== 429) throw parseRefusal(response.status, text);
      throw new TemporaryFailure(`status ${response.status}`, parseRetryAfter(response.headers.get('retry-after')));
    } catch (error) {
      const isFinal = error instanceof RefusedRequestError || DISK_ERRORS.includes(getErrorCode(error) ?? '');
      if (isFinal || error instanceof TemporaryFailure) throw error;
      throw new TemporaryFailure(describeNetworkError(error), 0);
    }
  }
}

/** Signed URLs are secrets, so logs contain no more than the beginning of the path. */
const describeTarget = (target: string): string =>
  target.startsWith('/') ? target.replace(/\?.*$/s, '') : new URL(target).origin;

const parseResponse = <S extends z.ZodType>(schema: S, text: string, target: string): z.output<S> => {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : 'it is not JSON';
    throw new Error(`the response to ${describeTarget(target)} does not match this version of the executor: ${reason}`);
  }
};

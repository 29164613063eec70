import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { createUnreachableError } from './command-error.js';
import { uploadFile, type FileUpload } from './file-upload.js';
import type { HttpResponse, NetworkError } from './transport.js';
import { describeTrustFailure } from './tls-trust.js';

/** How long to wait for a server that is unavailable or busy. */
export type RetryPolicy = { readonly retries: number; readonly minTimeout: number; readonly maxTimeout: number };

/** Covers a restart of the server, or a minute without a network. */
const DEFAULT_RETRY_POLICY: RetryPolicy = { retries: 8, minTimeout: 500, maxTimeout: 15_000 };

/** The command fails if the server requests a longer delay. */
const MAX_RETRY_AFTER_MS = 120_000;

/** A failure that may be temporary: no response, a server error, or too many requests. */
export class TransientError extends Error {
  constructor(
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

const parseRetryAfter = (retryAfter: string | null): number => {
  const text = retryAfter ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
};

const throwIfTransient = ({ status, retryAfter }: HttpResponse): void => {
  if (status === 429) throw new TransientError('the server limits requests at the moment', parseRetryAfter(retryAfter));
  if (status >= 500) throw new TransientError(`the server answers ${status}`, parseRetryAfter(retryAfter));
};

type ErrorWithCause = NetworkError & { readonly cause?: unknown; readonly errors?: readonly unknown[] };

/**
 * Returns the deepest cause, because the outer error says only `fetch failed`. If several addresses fail, the first one
 * counts.
 */
const findRootCause = (error: unknown): NetworkError => {
  const { cause, errors, ...fault } = error as ErrorWithCause;
  if (cause !== undefined) return findRootCause(cause);
  return errors?.[0] === undefined
    ? { ...fault, message: (error as ErrorWithCause).message }
    : findRootCause(errors[0]);
};

type HttpClientOptions = {
  readonly signal: AbortSignal;
  /** Prints which request is retried. */
  readonly print: (line: string) => void;
  readonly patience?: RetryPolicy;
};

export type HttpRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | null;
};

/** Repeats requests with growing delays until there is a final response. */
export class HttpClient {
  private readonly patience: RetryPolicy;

  constructor(private readonly options: HttpClientOptions) {
    this.patience = options.patience ?? DEFAULT_RETRY_POLICY;
  }

  /**
   * Returns the final response, whether a success or a refusal. `what` names the subject in messages instead of the
   * URL, which may be signed.
   */
  sendWithRetry(what: string, url: URL, request: HttpRequest = {}): Promise<HttpResponse> {
    return this.patiently(`${url.host}: ${what}`, () => this.send(url, request));
  }

  /** Repeats the whole work while it fails with a `TransientError`. */
  async patiently<T>(what: string, work: (attempt: number) => Promise<T>): Promise<T> {
    const { signal, print } = this.options;
    try {
      return await pRetry(work, {
        ...this.patience,
        randomize: true,
        signal,
        shouldRetry: ({ error }) => error instanceof TransientError && error.retryAfterMs <= MAX_RETRY_AFTER_MS,
        onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
          if (!(error instanceof TransientError) || retriesLeft === 0 || error.retryAfterMs > MAX_RETRY_AFTER_MS)
            return;
          print(`${what}: ${error.message}; trying again`);
          const more = error.retryAfterMs - retryDelay;
          if (more > 0) await sleep(more, undefined, { signal });
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TransientError) throw createUnreachableError(`${what}: ${error.message}`);
      throw error;
    }
  }

  /** Sends one request. Throws a `TransientError` if it may be retried. */
  send(url: URL, { method = 'GET', headers = {}, body = null }: HttpRequest): Promise<HttpResponse> {
    return this.sendOnce(url, async (signal) => {
      const response = await fetch(url, { method, headers, signal, body });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, retryAfter: response.headers.get('retry-after'), bytes };
    });
  }

  /** Uploads a file once. */
  put(url: URL, file: FileUpload): Promise<HttpResponse> {
    return this.sendOnce(url, (signal) => uploadFile(url, file, signal));
  }

  private async sendOnce(url: URL, request: (signal: AbortSignal) => Promise<HttpResponse>): Promise<HttpResponse> {
    const { signal } = this.options;
    try {
      const answer = await request(signal);
      throwIfTransient(answer);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TransientError) throw error;
      const root = findRootCause(error);
      // Only errors of local files have a path. A TLS socket that ends early has `path: null`.
      if (typeof root.path === 'string') throw error;
      const distrust = describeTrustFailure(root, url);
      if (distrust !== null) throw createUnreachableError(distrust);
      // ENOTFOUND is probably a typing error. A temporary failure of the resolver is EAI_AGAIN.
      if (root.code === 'ENOTFOUND') throw createUnreachableError(`${url.host}: this host name does not exist`);
      throw new TransientError(root.message || 'no response');
    }
  }
}

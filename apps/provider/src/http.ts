import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { unreachable } from './failure.js';
import { putFile, type FileToPut } from './put-file.js';
import type { Answer, Fault } from './transport.js';
import { trustProblemOf } from './trust.js';

/** How long a server that is away, or busy, is waited for. */
export type Patience = { readonly retries: number; readonly minTimeout: number; readonly maxTimeout: number };

/** A restart, or a minute without a network. */
export const PATIENCE: Patience = { retries: 8, minTimeout: 500, maxTimeout: 15_000 };

/** A server that wants us to stay away for longer is not waited for. */
const RETRY_AFTER_MOST_MS = 120_000;

/** What may be over in a while: nobody answers, a fault, too much at once. */
export class Passing extends Error {
  constructor(
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

const millisecondsOf = (retryAfter: string | null): number => {
  const text = retryAfter ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
};

const throwIfPassing = ({ status, retryAfter }: Answer): void => {
  if (status === 429) throw new Passing('the server is asked too much at the moment', millisecondsOf(retryAfter));
  if (status >= 500) throw new Passing(`the server answers ${status}`, millisecondsOf(retryAfter));
};

type Caused = Fault & { readonly cause?: unknown; readonly errors?: readonly unknown[] };

/** Where it went wrong is in the causes: `fetch failed` says nothing. Of several addresses that fail the first counts. */
const rootOf = (error: unknown): Fault => {
  const { cause, errors, ...fault } = error as Caused;
  if (cause !== undefined) return rootOf(cause);
  return errors?.[0] === undefined ? { ...fault, message: (error as Caused).message } : rootOf(errors[0]);
};

export type HttpOptions = {
  readonly signal: AbortSignal;
  /** Tells what is tried again. */
  readonly say: (line: string) => void;
  readonly patience?: Patience;
};

export type Request = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | null;
};

/** Requests that are repeated, with growing pauses, until somebody answers them. */
export class Http {
  private readonly patience: Patience;

  constructor(private readonly options: HttpOptions) {
    this.patience = options.patience ?? PATIENCE;
  }

  /** What the server says in the end: yes, or no. `what` it is about is told where it does not; not the address, which may be a signed one. */
  ask(what: string, url: URL, request: Request = {}): Promise<Answer> {
    return this.patiently(`${url.host}: ${what}`, () => this.send(url, request));
  }

  /** Repeats the whole of the work for as long as it fails of something that passes. */
  async patiently<T>(what: string, work: (attempt: number) => Promise<T>): Promise<T> {
    const { signal, say } = this.options;
    try {
      return await pRetry(work, {
        ...this.patience,
        randomize: true,
        signal,
        shouldRetry: ({ error }) => error instanceof Passing && error.retryAfterMs <= RETRY_AFTER_MOST_MS,
        onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
          if (!(error instanceof Passing) || retriesLeft === 0 || error.retryAfterMs > RETRY_AFTER_MOST_MS) return;
          say(`${what}: ${error.message}; trying again`);
          const more = error.retryAfterMs - retryDelay;
          if (more > 0) await sleep(more, undefined, { signal });
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Passing) throw unreachable(`${what}: ${error.message}`);
      throw error;
    }
  }

  /** Once. Throws what `patiently` repeats. */
  send(url: URL, { method = 'GET', headers = {}, body = null }: Request): Promise<Answer> {
    return this.once(url, async (signal) => {
      const response = await fetch(url, { method, headers, signal, body });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, retryAfter: response.headers.get('retry-after'), bytes };
    });
  }

  /** Once, a file. */
  put(url: URL, file: FileToPut): Promise<Answer> {
    return this.once(url, (signal) => putFile(url, file, signal));
  }

  private async once(url: URL, request: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { signal } = this.options;
    try {
      const answer = await request(signal);
      throwIfPassing(answer);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Passing) throw error;
      const root = rootOf(error);
      // Only errors of local files have a path. A TLS socket that ends early has `path: null`.
      if (typeof root.path === 'string') throw error;
      const distrust = trustProblemOf(root, url);
      if (distrust !== null) throw unreachable(distrust);
      // Rather a wrong word than a name that is not known for a moment: that is EAI_AGAIN.
      if (root.code === 'ENOTFOUND') throw unreachable(`${url.host}: there is no host of this name`);
      throw new Passing(root.message || 'nobody answers');
    }
  }
}

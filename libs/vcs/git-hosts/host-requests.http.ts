import type { z } from 'zod';
import { OutboundError, type OutboundFetch } from '#platform/outbound';
import { GitHostError } from './git-host.js';

/** Requests with the limits of documents, of large documents, and of files. */
export type HostFetches = {
  readonly documents: OutboundFetch;
  readonly largeDocuments: OutboundFetch;
  readonly files: OutboundFetch;
};

type RequestOptions = {
  readonly method?: string;
  readonly body?: object;
  /** Whether a redirect may lead to another server. */
  readonly leavesHost?: boolean;
};

/** Sends requests to the API of one Git host with one token. */
export class HostRequests {
  private readonly host: string;

  constructor(
    private readonly fetches: HostFetches,
    /** Address of the API, without a slash at its end. */
    private readonly apiUrl: string,
    private readonly headers: Readonly<Record<string, string>>,
    /** Ends all requests, also those that begin later. */
    private readonly deadline: AbortSignal | null = null,
  ) {
    this.host = new URL(apiUrl).host;
  }

  /** Returns the parsed body. Throws `GitHostError` unless the status is 2xx and the schema matches. */
  async read<S extends z.ZodType>(path: string, schema: S): Promise<z.infer<S>> {
    return (await this.readWithHeaders(path, schema)).body;
  }

  async readWithHeaders<S extends z.ZodType>(
    path: string,
    schema: S,
  ): Promise<{ readonly body: z.infer<S>; readonly headers: Headers }> {
    const response = await this.send(path);
    return { body: await this.parse(response, schema), headers: response.headers };
  }

  private async parse<S extends z.ZodType>(response: Response, schema: S): Promise<z.infer<S>> {
    const parsed = schema.safeParse(await response.json().catch(() => null));
    if (parsed.success) return parsed.data;
    throw new GitHostError('unexpected', `${this.host} answered with an unexpected document. Is the API URL right?`);
  }

  /** Like `read`, but returns null if the host answers that there is no such thing. */
  async readOrNull<S extends z.ZodType>(path: string, schema: S): Promise<z.infer<S> | null> {
    try {
      return await this.read(path, schema);
    } catch (error) {
      if (error instanceof GitHostError && error.failure === 'not-found') return null;
      throw error;
    }
  }

  /** Like `read`, for a request with a body. */
  async write<S extends z.ZodType>(
    method: 'POST' | 'PATCH' | 'PUT',
    path: string | URL,
    body: object,
    schema: S,
  ): Promise<z.infer<S>> {
    return (await this.writeWithHeaders(method, path, body, schema)).body;
  }

  async writeWithHeaders<S extends z.ZodType>(
    method: 'POST' | 'PATCH' | 'PUT',
    path: string | URL,
    body: object,
    schema: S,
  ): Promise<{ readonly body: z.infer<S>; readonly headers: Headers }> {
    const response = await this.send(path, { method, body });
    return { body: await this.parse(response, schema), headers: response.headers };
  }

  /** Returns the error for an answer that says that the token has no requests left. */
  createLimitError(headers: Headers): GitHostError {
    const retryAfter = parseRetryAfter(headers) ?? parseLimitEnd(headers);
    return new GitHostError('rate-limited', `${this.host} limits the requests of this token`, retryAfter);
  }

  /** Does nothing if the host answers that there is no such thing. */
  async delete(path: string): Promise<void> {
    try {
      await this.send(path, { method: 'DELETE' });
    } catch (error) {
      if (!(error instanceof GitHostError && error.failure === 'not-found')) throw error;
    }
  }

  /** Like `read`, for documents that may be larger. */
  async readLarge<S extends z.ZodType>(path: string, schema: S): Promise<z.infer<S>> {
    return (await this.readLargeWithHeaders(path, schema)).body;
  }

  async readLargeWithHeaders<S extends z.ZodType>(
    path: string,
    schema: S,
  ): Promise<{ readonly body: z.infer<S>; readonly headers: Headers }> {
    const response = await this.send(path, {}, this.fetches.largeDocuments);
    return { body: await this.parse(response, schema), headers: response.headers };
  }

  /** Returns the bytes of a file, which may be larger than other answers. Hosts can have files on another server. */
  async download(path: string): Promise<Buffer> {
    return Buffer.from(await (await this.send(path, { leavesHost: true }, this.fetches.files)).arrayBuffer());
  }

  /** `path` is below the address of the API, or an address of the same server. */
  private async send(
    path: string | URL,
    { method = 'GET', body, leavesHost = false }: RequestOptions = {},
    fetch = this.fetches.documents,
  ): Promise<Response> {
    let url = path instanceof URL ? path : new URL(`${this.apiUrl}${path}`);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await this.sendTo(url, method, body, fetch);
      const next = findRedirect(response, url);
      if (next === null) {
        if (response.ok) return response;
        throw this.toStatusError(response);
      }
      // A request that changes something is sent to the address that was meant.
      if (method !== 'GET' || (next.origin !== url.origin && !(leavesHost && isAsSecure(next, url)))) break;
      url = next;
    }
    throw new GitHostError('unexpected', `${this.host} redirected the request, which is not permitted here`);
  }

  /** Sends one request. Other servers do not get the token. */
  private async sendTo(url: URL, method: string, body: object | undefined, fetch: OutboundFetch): Promise<Response> {
    // An error of `fetch` about such a header would contain its value.
    if (!Object.values(this.headers).every((value) => /^[\x20-\x7e]*$/.test(value)))
      throw new GitHostError('unauthorized', `The token for ${this.host} has characters that no token can have`);
    const headers = {
      accept: 'application/json',
      'user-agent': 'Cadastre',
      ...(body && { 'content-type': 'application/json' }),
      ...(url.origin === new URL(this.apiUrl).origin && this.headers),
    };
    try {
      return await fetch(url.href, {
        method,
        headers,
        body: body ? JSON.stringify(body) : null,
        signal: this.deadline,
      });
    } catch (error) {
      if (this.deadline?.aborted)
        throw new GitHostError('out-of-time', `${this.host} did not answer in time`, null, error);
      throw toHostError(error);
    }
  }

  private toStatusError({ status, headers }: Response): GitHostError {
    const retryAfter = parseRetryAfter(headers) ?? parseLimitEnd(headers);
    if (status === 429 || (status === 403 && retryAfter !== null)) return this.createLimitError(headers);
    if (status === 401) return new GitHostError('unauthorized', `${this.host} refused the token`);
    if (status === 403)
      return new GitHostError('forbidden', `The token does not suffice for this request to ${this.host}`);
    if (status === 404) return new GitHostError('not-found', `${this.host} has no such resource`);
    const failure = status >= 500 ? 'unavailable' : 'unexpected';
    return new GitHostError(failure, `${this.host} answered with the status ${status}`, retryAfter);
  }
}

/** A repository that was renamed, or whose owner was, needs one. */
const MAX_REDIRECTS = 3;

/** Returns the address that the host has sent instead of an answer; null if the response is the answer. */
const findRedirect = ({ status, headers }: Response, url: URL): URL | null => {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers.get('location') : null;
  return location === null ? null : URL.parse(location, url.href);
};

/** Whether a file may come from the address. Its name can contain a token of the host for this file. */
const isAsSecure = (next: URL, url: URL): boolean => next.protocol === 'https:' || next.protocol === url.protocol;

/** The longest pause, if the host names a time that is later. */
const LONGEST_PAUSE_S = 3_600;

const parseRetryAfter = (headers: Headers): number | null => {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), LONGEST_PAUSE_S) : null;
};

/** Returns the seconds until an exhausted limit is full again, by the clock of the host. */
const parseLimitEnd = (headers: Headers): number | null => {
  if (headers.get('x-ratelimit-remaining') !== '0') return null;
  const end = Number(headers.get('x-ratelimit-reset'));
  const now = Date.parse(headers.get('date') ?? '') / 1_000;
  return Number.isFinite(end - now) ? Math.min(Math.max(Math.ceil(end - now), 1), LONGEST_PAUSE_S) : LONGEST_PAUSE_S;
};

const toHostError = (error: unknown): unknown =>
  error instanceof OutboundError
    ? new GitHostError(error.failure === 'too-large' ? 'unexpected' : 'unavailable', error.message, null, error)
    : error;

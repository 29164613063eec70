import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { VerifierUsageError } from './command-line.js';
import type { LogFileReader } from './tile-source.js';
import { TrailUnreadableError } from './trail-errors.js';

/** A full bundle with entries of 65,535 bytes, the longest that tiles can have. */
const FILE_MAX = 256 * (2 + 65_535);
const REQUEST_MS = 30_000;
const ATTEMPTS = 4;
const PAUSE_MS = 500;

/** Returns whether a location is a URL, and not a file or folder. */
export const isUrl = (location: string): boolean => /^https?:\/\//i.test(location);

/** Returns a reader of a log in a folder, or of one at a URL that a token may read. Throws VerifierUsageError for no valid URL. */
export const openLog = (location: string, token: string | null, signal?: AbortSignal): LogFileReader =>
  isUrl(location) ? openLogAt(location, token, signal) : (path) => readFileIfThere(join(location, path));

const readFileIfThere = async (path: string): Promise<Buffer | null> => {
  try {
    return await readFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new TrailUnreadableError(message, { cause: error });
  }
};

const openLogAt = (prefix: string, token: string | null, signal?: AbortSignal): LogFileReader => {
  if (!URL.canParse(prefix)) throw new VerifierUsageError(`must be a URL or a folder, got ${prefix}`);
  const base = new URL(prefix.endsWith('/') ? prefix : `${prefix}/`);
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(base.hostname);
  if (token !== null && base.protocol !== 'https:' && !isLoopback) {
    throw new TrailUnreadableError(`${base.origin}: the token is sent only with https`);
  }
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const read = async (path: string): Promise<Buffer | null | 'busy'> => {
    const timeout = AbortSignal.timeout(REQUEST_MS);
    const response = await fetch(new URL(path, base), {
      headers,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (response.ok) return readBody(response, path);
    await response.body?.cancel();
    const { status } = response;
    if (status === 404 || status === 410) return null;
    if (status === 429 || status >= 500) return 'busy';
    throw new TrailUnreadableError(`${path}: the server answers ${status}${token === null ? ' without a token' : ''}`);
  };
  return (path) => retry(path, () => read(path), signal);
};

/** Returns the body of a response. Throws if it is longer than any file of a log. */
const readBody = async (response: Response, path: string): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > FILE_MAX) throw new TrailUnreadableError(`${path} is longer than any file of a log`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const retry = async (
  path: string,
  read: () => Promise<Buffer | null | 'busy'>,
  signal: AbortSignal | undefined,
): Promise<Buffer | null> => {
  let problem = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const answer = await read();
      if (answer !== 'busy') return answer;
      problem = 'the server is unavailable or busy';
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof TrailUnreadableError) throw error;
      problem = describeNetworkError(error);
    }
    if (attempt < ATTEMPTS) await sleep(PAUSE_MS * 2 ** (attempt - 1), undefined, signal ? { signal } : {});
  }
  throw new TrailUnreadableError(`${path}: ${problem}`);
};

/** Returns the message of the deepest cause, because fetch itself reports only `fetch failed`. */
const describeNetworkError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return error.cause === undefined ? error.message || (code ?? error.name) : describeNetworkError(error.cause);
};

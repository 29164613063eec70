import { unavailable } from '#kernel';

/** The parts of the SDK's errors that we act on. */
type Told = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
};

const told = (error: unknown): Told => (error instanceof Error ? error : {});

const statusOf = (error: unknown): number | undefined => told(error).$metadata?.httpStatusCode;

/** Not every 404: where the bucket itself is missing, nobody knows what is in it. HEAD gets no reason. */
export const isMissing = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(String(told(error).name));

export const isBeyond = (error: unknown): boolean => statusOf(error) === 416;

/**
 * Somebody was there before, or at the same time, or our own upload was there: its answer was lost, and then the SDK has
 * asked again.
 */
export const isContested = (error: unknown): boolean =>
  [409, 412].includes(statusOf(error) ?? 0) || told(error).name === 'NoSuchUpload';

const OUTAGES =
  /\b(?:TimeoutError|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE)\b/;

const isOutage = (error: unknown): boolean => {
  const { name, code, message } = told(error);
  const status = statusOf(error) ?? 0;
  if (status >= 500 || status === 429) return true;
  // Where the SDK takes an error for none, it makes one of its text, and name and code are nowhere else.
  return OUTAGES.test(`${String(name)} ${String(code)} ${String(message)}`);
};

/** What an operator may read. The SDK's errors hold requests with their signatures, so nothing is taken over unread. */
export const reasonOf = (error: unknown): string => {
  const { name, message } = told(error);
  const status = statusOf(error);
  return status === undefined ? String(message) : `${String(name)} (HTTP ${status})`;
};

export const storeAway = () => unavailable('The store of files is not available at the moment. Please try again.', 1);

/** The SDK's errors as requests and followers are to meet them. */
export const translated = (error: unknown): Error =>
  isOutage(error) ? storeAway() : new Error(`the bucket of blobs cannot be used: ${reasonOf(error)}`);

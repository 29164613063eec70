import { unavailable } from '#kernel';

/** The parts of the SDK's errors that we act on. */
type SdkError = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
};

const toSdkError = (error: unknown): SdkError => (error instanceof Error ? error : {});

const getStatus = (error: unknown): number | undefined => toSdkError(error).$metadata?.httpStatusCode;

/** Not every 404: where the bucket itself is missing, nobody knows what is in it. HEAD gets no reason. */
export const isMissing = (error: unknown): boolean =>
  ['NoSuchKey', 'NotFound'].includes(String(toSdkError(error).name));

export const isRangeNotSatisfiable = (error: unknown): boolean => getStatus(error) === 416;

/**
 * Somebody was there before, or at the same time, or our own upload was there: its answer was lost, and then the SDK has
 * asked again.
 */
export const isWriteConflict = (error: unknown): boolean =>
  [409, 412].includes(getStatus(error) ?? 0) || toSdkError(error).name === 'NoSuchUpload';

const OUTAGES =
  /\b(?:TimeoutError|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE)\b/;

const isOutage = (error: unknown): boolean => {
  const { name, code, message } = toSdkError(error);
  const status = getStatus(error) ?? 0;
  if (status >= 500 || status === 429) return true;
  // Where the SDK takes an error for none, it makes one of its text, and name and code are nowhere else.
  return OUTAGES.test(`${String(name)} ${String(code)} ${String(message)}`);
};

/** What an operator may read. The SDK's errors hold requests with their signatures, so nothing is taken over unread. */
export const describeS3Error = (error: unknown): string => {
  const { name, message } = toSdkError(error);
  const status = getStatus(error);
  return status === undefined ? String(message) : `${String(name)} (HTTP ${status})`;
};

export const createStoreUnavailableRefusal = () =>
  unavailable('The store of files is not available at the moment. Please try again.', 1);

/** The SDK's errors as requests and followers are to meet them. */
export const toStoreError = (error: unknown): Error =>
  isOutage(error)
    ? createStoreUnavailableRefusal()
    : new Error(`the bucket of blobs cannot be used: ${describeS3Error(error)}`);

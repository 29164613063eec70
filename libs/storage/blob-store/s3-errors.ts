import { unavailable } from '#platform/kernel';

/** The members of the SDK's errors that the code uses. */
type SdkError = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
};

const toSdkError = (error: unknown): SdkError => (error instanceof Error ? error : {});

const getStatus = (error: unknown): number | undefined => toSdkError(error).$metadata?.httpStatusCode;

/**
 * Returns whether the object does not exist. Not every 404 means that: if the bucket is missing, nothing is known about
 * its objects. Responses to HEAD contain no reason.
 */
export const isMissing = (error: unknown): boolean =>
  ['NoSuchKey', 'NotFound'].includes(String(toSdkError(error).name));

export const isRangeNotSatisfiable = (error: unknown): boolean => getStatus(error) === 416;

/**
 * Returns whether an object exists already, or an upload ran at the same time. It can be our own upload: if its
 * response was lost, the SDK repeated the request.
 */
export const isWriteConflict = (error: unknown): boolean =>
  [409, 412].includes(getStatus(error) ?? 0) || toSdkError(error).name === 'NoSuchUpload';

const OUTAGES =
  /\b(?:TimeoutError|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE)\b/;

const isOutage = (error: unknown): boolean => {
  const { name, code, message } = toSdkError(error);
  const status = getStatus(error) ?? 0;
  if (status >= 500 || status === 429) return true;
  // If the SDK does not recognize an error, it creates one from its text, so name and code are only in the message.
  return OUTAGES.test(`${String(name)} ${String(code)} ${String(message)}`);
};

/**
 * Returns a description for operators. The SDK's errors contain requests with their signatures, so only selected
 * members are copied.
 */
export const describeS3Error = (error: unknown): string => {
  const { name, message } = toSdkError(error);
  const status = getStatus(error);
  return status === undefined ? String(message) : `${String(name)} (HTTP ${status})`;
};

export const createStoreUnavailableRefusal = () =>
  unavailable('The file store is not available at the moment. Please try again.', 1);

/** Converts an error of the SDK to the error that requests and followers get. */
export const toStoreError = (error: unknown): Error =>
  isOutage(error)
    ? createStoreUnavailableRefusal()
    : new Error(`the bucket of blobs cannot be used: ${describeS3Error(error)}`);

import type { S3 } from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';

/** Location of blobs in S3, or in a store with an S3 API. */
export type S3Location = {
  readonly bucket: string;
  /** Null for Amazon S3. */
  readonly endpoint: string | null;
  /** Null for the region of AWS's own settings. */
  readonly region: string | null;
  /** Beginning of every key in the bucket, without a slash at its end. Empty if the bucket contains nothing else. */
  readonly prefix: string;
  /** Whether URLs contain the bucket in the path instead of the host name. */
  readonly pathStyle: boolean;
  /** Without them, credentials come from the usual places of AWS's tools. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

export type S3Connection = { readonly s3: S3; readonly Upload: typeof Upload };

// Most stores ignore the region, but it is a part of the signature.
const DEFAULT_REGION = 'us-east-1';

const CONNECT_TIMEOUT_MS = 3_000;
/** Time until the response begins, including the upload of a part of 5 MiB. The SDK has no limit by default. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** Time without data after the response has begun. It also limits the pauses of a reader. */
const IDLE_TIMEOUT_MS = 300_000;
// Each socket serves one request, whose client waits for it. A queue for sockets would only hide the load.
const SOCKETS = { maxSockets: Number.POSITIVE_INFINITY };

/**
 * Opens a client. The SDK retries transient errors by its
 * standard rules. The SDK is loaded only here: it takes a fifth of a second and 25 MB, which installations with a
 * folder do not need.
 */
export const openS3 = async ({ endpoint, region, pathStyle, credentials }: S3Location): Promise<S3Connection> => {
  const [client, storage] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const signedFor = region ?? (endpoint === null ? null : DEFAULT_REGION);
  const s3 = new client.S3({
    ...(endpoint === null ? {} : { endpoint }),
    ...(signedFor === null ? {} : { region: signedFor }),
    ...(credentials ? { credentials } : {}),
    forcePathStyle: pathStyle,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: RESPONSE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_TIMEOUT_MS,
      httpAgent: SOCKETS,
      httpsAgent: SOCKETS,
    },
  });
  return { s3, Upload: storage.Upload };
};

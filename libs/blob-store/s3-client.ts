import type { S3 } from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';

/** Where in S3, or in a store that speaks like it, blobs lie. */
export type S3Location = {
  readonly bucket: string;
  /** Null: Amazon's. */
  readonly endpoint: string | null;
  /** Null: the one that AWS's own settings name. */
  readonly region: string | null;
  /** Begins every key in the bucket; no slash at its end. Empty: the bucket is ours alone. */
  readonly prefix: string;
  /** The bucket in the path of addresses, and not in their host name. */
  readonly pathStyle: boolean;
};

export type S3Connection = { readonly s3: S3; readonly Upload: typeof Upload };

// Most stores ignore the region, which is signed all the same.
const DEFAULT_REGION = 'us-east-1';

const CONNECT_TIMEOUT_MS = 3_000;
/** Until the answer begins, with a part of 5 MiB on its way: the SDK would wait for ever. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** Nothing comes of an answer that has begun; for a reader that pauses it is the same. */
const IDLE_TIMEOUT_MS = 300_000;
// Each socket serves a request of ours, which its own client waits for: a queue for sockets would only hide it.
const SOCKETS = { maxSockets: Number.POSITIVE_INFINITY };

/**
 * Credentials come from where AWS's tools look for them, transient errors are tried again by the SDK's standard rules.
 * Loaded here only: the SDK takes a fifth of a second and 25 MB, which those with a folder need not spend.
 */
export const openS3 = async ({ endpoint, region, pathStyle }: S3Location): Promise<S3Connection> => {
  const [client, storage] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const signedFor = region ?? (endpoint === null ? null : DEFAULT_REGION);
  const s3 = new client.S3({
    ...(endpoint === null ? {} : { endpoint }),
    ...(signedFor === null ? {} : { region: signedFor }),
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

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { ROOT } from '../folders.js';
import { freePorts } from '../free-ports.js';
import { runKeptProgram } from '../kept-program.js';
import { waitUntil } from '../product.js';
import { installPython } from '../python.js';

/** An S3 server with Object Lock, in memory. It does not check signatures. */
export type LockingS3 = {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** A bucket that locks objects. */
  readonly bucket: string;
  /** A bucket without Object Lock. */
  readonly plainBucket: string;
  /** A client for the tests' own checks. */
  readonly client: S3;
  listKeys(prefix?: string): Promise<readonly string[]>;
  read(key: string): Promise<string>;
  stop(): Promise<void>;
};

const REQUIREMENTS = join(ROOT, 'test/support/locking-s3/requirements.txt');

export const startLockingS3 = async (): Promise<LockingS3> => {
  const python = await installPython('locking-s3', REQUIREMENTS);
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-locking-s3-'));
  const [port] = await freePorts();
  const endpoint = `http://127.0.0.1:${port}`;
  const program = await runKeptProgram(
    python,
    ['-m', 'moto.server', '-H', '127.0.0.1', '-p', `${port}`],
    join(folder, 'log'),
  );
  await waitUntil(async () => {
    const failure = program.failure();
    if (failure) throw new Error(`the S3 server ended: ${failure}`);
    return (await fetch(endpoint).catch(() => null)) !== null;
  }, 'the S3 server answers');
  const credentials = { accessKeyId: 'archivist', secretAccessKey: 'swordfish' };
  const client = new S3({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  const [bucket, plainBucket] = ['audit', 'plain'];
  await client.createBucket({ Bucket: bucket, ObjectLockEnabledForBucket: true });
  await client.createBucket({ Bucket: plainBucket });
  return {
    endpoint,
    credentials,
    bucket,
    plainBucket,
    client,
    listKeys: async (prefix = '') => {
      const { Contents = [] } = await client.listObjectsV2({ Bucket: bucket, Prefix: prefix });
      return Contents.map(({ Key }) => `${Key}`);
    },
    read: async (key) => {
      const { Body } = await client.getObject({ Bucket: bucket, Key: key });
      return (await Body?.transformToString()) ?? '';
    },
    stop: async () => {
      client.destroy();
      await program.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

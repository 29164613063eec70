import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startLockingS3, type LockingS3 } from '../../../test/support/locking-s3/index.js';
import { INSTALL_PYTHON_TIMEOUT_MS } from '../../../test/support/python.js';
import { SystemClock } from '#platform/host';
import { ArchiveBucket, computeArchiveDigest, type S3Location } from './index.js';

const clock = new SystemClock();
let s3: LockingS3;
let location: S3Location;

beforeAll(async () => {
  s3 = await startLockingS3();
}, INSTALL_PYTHON_TIMEOUT_MS);

afterAll(() => s3.stop());

beforeEach(() => {
  const { endpoint, bucket, credentials } = s3;
  location = { bucket, endpoint, credentials, region: null, prefix: randomUUID(), pathStyle: true };
});

const describeObject = (key: string, content: string) => ({
  key,
  content: Buffer.from(content),
  mediaType: 'application/x-ndjson',
});

describe('ArchiveBucket', () => {
  it('adds an object that nobody can delete before its date', async () => {
    await new ArchiveBucket(location, 30, clock).add(describeObject('entries/a', 'one'));
    const object = { Bucket: s3.bucket, Key: `${location.prefix}/entries/a` };
    const head = await s3.client.headObject(object);
    expect([head.ObjectLockMode, head.ContentType]).toEqual(['COMPLIANCE', 'application/x-ndjson']);
    const days = (Number(head.ObjectLockRetainUntilDate) - Date.now()) / (24 * 60 * 60 * 1_000);
    expect(Math.round(days)).toBe(30);
    await expect(s3.client.deleteObject({ ...object, VersionId: head.VersionId })).rejects.toThrow('Access Denied');
  });

  it('does nothing if the object exists with the same or an earlier content, and refuses other content', async () => {
    const archive = new ArchiveBucket(location, 30, clock);
    await archive.add(describeObject('entries/a', 'one'));
    await archive.add(describeObject('entries/a', 'one'));
    await expect(archive.add(describeObject('entries/a', 'two'))).rejects.toThrow(
      'the archive has an object entries/a with other content; nothing was delivered after it',
    );
    const one = computeArchiveDigest(Buffer.from('one'));
    await archive.add(describeObject('entries/a', 'two'), [one]);
    const { Versions = [] } = await s3.client.listObjectVersions({ Bucket: s3.bucket, Prefix: location.prefix });
    expect(Versions).toHaveLength(1);
    expect(await s3.read(`${location.prefix}/entries/a`)).toBe('one');
  });

  it('adds versions of an object that changes, and keeps the locked ones', async () => {
    const archive = new ArchiveBucket(location, 30, clock);
    await archive.addVersion(describeObject('checkpoint', 'one'));
    await archive.addVersion(describeObject('checkpoint', 'two'));
    const { Versions = [] } = await s3.client.listObjectVersions({ Bucket: s3.bucket, Prefix: location.prefix });
    expect(Versions).toHaveLength(2);
    expect(await s3.read(`${location.prefix}/checkpoint`)).toBe('two');
  });

  it('locks nothing if the setting is off', async () => {
    const archive = new ArchiveBucket({ ...location, bucket: s3.plainBucket }, null, clock);
    await archive.inspect();
    await archive.add(describeObject('a', 'one'));
    const head = await s3.client.headObject({ Bucket: s3.plainBucket, Key: `${location.prefix}/a` });
    expect([head.ObjectLockMode, head.Metadata]).toEqual([
      undefined,
      { sha256: expect.stringMatching(/^[\da-f]{64}$/) },
    ]);
  });

  it('reports a bucket without Object Lock, and a missing one', async () => {
    await new ArchiveBucket(location, 30, clock).inspect();
    await expect(new ArchiveBucket({ ...location, bucket: s3.plainBucket }, 30, clock).inspect()).rejects.toThrow(
      'the bucket plain has no Object Lock: ObjectLockConfigurationNotFoundError (HTTP 404)',
    );
    const missing = new ArchiveBucket({ ...location, bucket: 'no-such-bucket' }, 30, clock);
    await expect(missing.add(describeObject('a', 'one'))).rejects.toThrow(
      'the archive no-such-bucket cannot be written: NoSuchBucket (HTTP 404)',
    );
  });
});

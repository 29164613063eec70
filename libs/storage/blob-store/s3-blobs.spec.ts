import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { waitUntil } from '../../../test/support/product.js';
import { startS3, type TestS3 } from '../../../test/support/s3/index.js';
import { SystemClock } from '#platform/host';
import { BlobExistsError, readBytes, S3Blobs, type S3Location } from './index.js';
import { inspectBucket } from './bucket-inspection.js';
import { readContent, iterateChunks, createS3Location } from './spec.js';

const clock = new SystemClock();
const tomorrow = new AdjustableClock();
tomorrow.pass({ days: 1, minutes: 60 });

let s3: TestS3;
let location: S3Location;
let store: S3Blobs;

beforeAll(async () => {
  s3 = await startS3();
  Object.assign(process.env, s3.credentials);
});

afterAll(() => s3.stop());

beforeEach(() => {
  location = createS3Location(s3);
  store = new S3Blobs(location, clock);
});

/** Returns the error that a request or follower gets, or null. */
const errorOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('S3Blobs', () => {
  it('stores blobs below the prefix, invisible from other prefixes', async () => {
    await store.put('a/b', Buffer.from('x'));
    expect(await s3.listKeys(location.prefix)).toEqual([`${location.prefix}/a/b`]);
    expect(await new S3Blobs(createS3Location(s3), clock).head('a/b')).toBeNull();
    const bare = new S3Blobs({ ...location, prefix: '' }, clock);
    expect((await readContent(bare, `${location.prefix}/a/b`))?.toString()).toBe('x');
  });

  it('accepts exactly one of several concurrent multipart uploads, and leaves nothing of the others', async () => {
    const attempts = Array.from({ length: 5 }, (_, n) => store.put('race', iterateChunks(7 + n, 1024 * 1024)));
    const results = await Promise.allSettled(attempts);
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    const rejections = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(rejections).toHaveLength(4);
    for (const refusal of rejections) expect(refusal).toBeInstanceOf(BlobExistsError);
    expect(await store.head('race')).toEqual({ size: (7 + winner) * 1024 * 1024 });
    expect(await s3.listKeys(location.prefix)).toEqual([`${location.prefix}/race`]);
  });

  it('aborts multipart uploads that are a day old, and keeps newer ones and those of other prefixes', async () => {
    const startUpload = (Key: string) => s3.client.createMultipartUpload({ Bucket: s3.bucket, Key });
    await startUpload(`${location.prefix}/left`);
    const foreign = `${createS3Location(s3).prefix}/left`;
    await startUpload(foreign);
    await store.inspect();
    expect(await s3.listKeys(location.prefix)).toEqual([`${location.prefix}/left in parts`]);
    await new S3Blobs(location, tomorrow).inspect();
    expect(await s3.listKeys(location.prefix)).toEqual([]);
    expect(await s3.listKeys(foreign)).toEqual([`${foreign} in parts`]);
  });

  it('reports wrong credentials and a missing bucket without showing the credentials', async () => {
    await expect(new S3Blobs({ ...location, bucket: 'no-such-bucket' }, clock).inspect()).rejects.toThrow(
      's3:PutObject: NoSuchBucket (HTTP 404)',
    );
    const stranger = { AWS_ACCESS_KEY_ID: s3.credentials.AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: 'wrong-and-secret' };
    Object.assign(process.env, stranger);
    // The SDK reads the credentials when it signs the first request.
    const refused = new S3Blobs(location, clock);
    const errors = [
      await errorOf(refused.inspect()),
      await errorOf(refused.put('a', Buffer.from('x'))),
      await errorOf(refused.get('a')),
      await errorOf(refused.delete('a')),
    ] as Error[];
    Object.assign(process.env, s3.credentials);
    expect(errors.map(({ message }) => message)).toEqual([
      's3:PutObject: SignatureDoesNotMatch (HTTP 403)',
      ...Array.from({ length: 3 }, () => 'the bucket of blobs cannot be used: SignatureDoesNotMatch (HTTP 403)'),
    ]);
    const errorText = errors.map((error) => JSON.stringify([error, error.stack, error.cause])).join();
    for (const secret of Object.values(stranger)) expect(errorText).not.toContain(secret);
  });

  it('throws if the bucket is missing, because that says nothing about the blob', async () => {
    const nowhere = new S3Blobs({ ...location, bucket: 'no-such-bucket' }, clock);
    await expect(nowhere.get('a')).rejects.toThrow('NoSuchBucket (HTTP 404)');
  });
});

describe('the inspection of a bucket', () => {
  it('passes and leaves nothing in the bucket', async () => {
    await store.inspect();
    expect(await s3.listKeys(location.prefix)).toEqual([]);
  });

  it.each(['PutObjectCommand', 'CompleteMultipartUploadCommand'])(
    'fails if %s overwrites an existing object',
    async (careless) => {
      const client = s3.anotherClient();
      client.middlewareStack.add(
        (next, { commandName }) =>
          (call) => {
            if (commandName === careless) Object.assign(call.input, { IfNoneMatch: undefined });
            return next(call);
          },
        { step: 'initialize' },
      );
      await expect(inspectBucket(client, location)).rejects.toThrow(
        's3:PutObject: the store ignores If-None-Match, so blobs could be overwritten',
      );
      expect(await s3.listKeys(location.prefix)).toEqual([]);
    },
  );
});

/** A proxy between a store and its server that can drop connections. */
class Line {
  /** Number of responses to drop, of requests whose first line matches `of`. */
  losing = 0;
  of = /^/;
  lost = 0;
  /** First lines of all answered requests, in order. */
  readonly answered: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(to: string) {
    const { hostname, port } = new URL(to);
    this.server = createServer((near) => {
      const far = connect(Number(port), hostname);
      let requestLine = '';
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => [near, far].forEach((end) => end.destroy()));
      }
      near.on('data', (bytes: Buffer) => {
        const line = bytes.subarray(0, 1_000).toString('latin1');
        if (/^[A-Z]+ \S+ HTTP/.test(line)) requestLine = line;
        far.write(bytes);
      });
      far.on('data', (bytes: Buffer) => {
        // A "100 Continue" is not yet the response.
        const answers = !bytes.toString('latin1').startsWith('HTTP/1.1 100');
        if (this.losing > 0 && this.of.test(requestLine) && answers) {
          this.losing -= 1;
          this.lost += 1;
          near.destroy();
        } else near.write(bytes);
        if (answers) this.answered.push(requestLine);
      });
    });
  }

  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}

describe('S3Blobs over an unreliable connection', () => {
  let line: Line;

  beforeEach(async () => {
    line = new Line(s3.endpoint);
    store = new S3Blobs({ ...location, endpoint: await line.open() }, clock);
  });

  afterEach(() => line.close());

  it.each([
    ['in one piece', 10, /^PUT/],
    ['in parts', 700, /^POST \S+uploadId=/],
  ])('recognizes its own blob if the response to its upload is lost, put %s', async (_how, count, of) => {
    Object.assign(line, { losing: 1, of });
    await store.put('mine', iterateChunks(count, 10_000));
    expect(line.lost).toBe(1);
    expect((await readContent(store, 'mine'))?.equals(await readBytes(iterateChunks(count, 10_000)))).toBe(true);
    await expect(store.put('mine', Buffer.from('another'))).rejects.toBeInstanceOf(BlobExistsError);
    expect(await s3.listKeys(location.prefix)).toEqual([`${location.prefix}/mine`]);
  });

  it('reports an outage of the store to the reader if the connection breaks', async () => {
    await store.put('large', iterateChunks(2_000, 10_000));
    const blob = await store.get('large');
    const reading = (async () => {
      for await (const _ of blob?.content ?? []) line.cut();
    })();
    expect(await errorOf(reading)).toMatchObject({ kind: 'unavailable' });
  });

  it('survives a connection that breaks before anyone reads', async () => {
    await store.put('large', iterateChunks(2_000, 10_000));
    const [unread, late] = [await store.get('large'), await store.get('large')];
    line.cut();
    unread?.content.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await errorOf(readBytes(late?.content as Readable))).toMatchObject({ kind: 'unavailable' });
  });
});

describe('S3Blobs while the server is down', () => {
  let line: Line;

  beforeEach(() => {
    line = new Line(s3.endpoint);
  });

  afterEach(() => line.close());

  it('reports the outage to callers and to the operator, and works again afterwards', async () => {
    await store.put('here', Buffer.from('x'));
    const broken = new S3Blobs({ ...location, endpoint: await line.open() }, clock);
    const half = (async function* () {
      yield* iterateChunks(600, 10_000);
      // Between two requests. The restarted server could neither continue nor abort a request that was running when it
      // was killed.
      await waitUntil(
        () => line.answered.some((requestLine) => /^PUT \S+partNumber=1&/.test(requestLine)),
        'the first part is there',
      );
      await s3.kill();
      yield* iterateChunks(600, 10_000);
    })();
    const refusals = [
      await errorOf(broken.put('half', half)),
      await errorOf(store.put('new', Buffer.from('y'))),
      await errorOf(store.get('here')),
      await errorOf(store.head('here')),
      await errorOf(store.delete('here')),
    ];
    expect(refusals.map(String)).toEqual(
      Array.from({ length: 5 }, () => 'Refused: The file store is not available at the moment. Please try again.'),
    );
    for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 1 });
    await expect(store.inspect()).rejects.toThrow(/^s3:PutObject: .*ECONNREFUSED/);
    await s3.restart();
    await store.put('new', Buffer.from('y'));
    expect((await readContent(store, 'here'))?.toString()).toBe('x');
    expect(await store.head('half')).toBeNull();
    expect(await s3.listKeys(location.prefix)).toContain(`${location.prefix}/half in parts`);
    await new S3Blobs(location, tomorrow).inspect();
    expect(await s3.listKeys(location.prefix)).toEqual([`${location.prefix}/here`, `${location.prefix}/new`]);
  });
});

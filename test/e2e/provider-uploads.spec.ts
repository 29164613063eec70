import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { computeDigest } from '#storage/blob-store';
import { launchProduct, type Product } from '../support/product.js';
import { makeRelease, type TestRelease } from '../support/releases.js';
import { makeOrganization } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';

const MIB = 1024 * 1024;
const LONG = 180_000;

let product: Product;
let api: ApiTestClient;
let release: TestRelease;

beforeAll(async () => {
  product = await launchProduct();
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
  release = await makeRelease(api, 'acme', 'large', { keyId: 'NONE' });
}, LONG);

afterAll(() => product?.remove());

/** Yields the same piece many times, so that the large body needs no memory. */
const repeated = function* (piece: Buffer, times: number): Generator<Buffer> {
  for (let n = 0; n < times; n += 1) yield piece;
};

const memoryOf = async (field: 'VmRSS' | 'VmHWM'): Promise<number> => {
  const status = await readFile(`/proc/${await pid()}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
};

const pid = async (): Promise<string> => (await readFile(join(product.dataFolder, 'pid'), 'utf8')).trim();

describe('a large zip', () => {
  const PIECES = 300;

  it(
    'is uploaded, downloaded and downloaded in ranges without growing memory',
    async () => {
      const piece = randomBytes(MIB);
      const sha256 = await computeDigest(Readable.from(repeated(piece, PIECES)));
      const archive = { ...release.archive('linux'), shasum: sha256.toString('hex') };
      await release.addPlatform(archive);
      // Resets the peak, because the start has a peak of its own (proc_pid_clear_refs(5)).
      await writeFile(`/proc/${await pid()}/clear_refs`, '5');
      const before = await memoryOf('VmRSS');
      const sent = await fetch(`${product.url}${await release.linkOf(archive, 'provider-binary-upload')}`, {
        method: 'PUT',
        headers: { 'content-length': String(PIECES * MIB) },
        body: Readable.from(repeated(piece, PIECES)) as unknown as ReadableStream,
        duplex: 'half',
      });
      expect([sent.status, await sent.text()]).toEqual([200, '']);
      const link = `${product.url}${await release.linkOf(archive, 'provider-binary-download')}`;
      const got = await fetch(link);
      expect(got.headers.get('content-length')).toBe(String(PIECES * MIB));
      const down = createHash('sha256');
      for await (const part of got.body ?? []) down.update(part);
      expect(down.digest('hex')).toBe(archive.shasum);
      // The server does not buffer the file: 66 to 76 MB were measured, for 300 MiB and for 500 MiB.
      expect((await memoryOf('VmHWM')) - before).toBeLessThan(150);
      const end = await fetch(link, { headers: { range: `bytes=${(PIECES - 1) * MIB}-` } });
      expect([end.status, Buffer.from(await end.arrayBuffer()).equals(piece)]).toEqual([206, true]);
    },
    LONG,
  );
});

/** Sends a whole request before it reads a byte of the response, as the simplest clients do. */
const sendFirst = async (socket: Socket, ...pieces: Iterable<string | Buffer>[]): Promise<string> => {
  socket.pause();
  for (const some of pieces) {
    for (const piece of some) {
      if (!socket.write(piece)) await once(socket, 'drain');
    }
  }
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (piece: Buffer): void => {
      text += piece.toString();
      const [head = '', body = ''] = text.split('\r\n\r\n');
      if (!text.includes('\r\n\r\n') || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
      socket.off('data', read);
      resolve(text);
    };
    socket
      .on('data', read)
      .once('error', reject)
      .once('close', () => reject(new Error(`closed after: ${text}`)));
    socket.resume();
  });
};

describe('a refused upload', () => {
  const PIECES = 48;
  const filler = Buffer.alloc(MIB);
  const framed = [Buffer.from(`${MIB.toString(16)}\r\n`), filler, Buffer.from('\r\n')];

  const chunked = function* (): Generator<Buffer> {
    for (let n = 0; n < PIECES; n += 1) yield* framed;
    yield Buffer.from('0\r\n\r\n');
  };
  const head = (request: string, header: string): string[] => [
    `${request} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`,
  ];

  type Row = readonly [when: string, what: string, status: number, request: () => string | Promise<string>];
  const rows: readonly Row[] = [
    ['before the body is read', 'a link that is not valid', 403, () => 'PUT /api/registry/private/v2/uploads/x.y'],
    [
      'while the body is read',
      'checksums that are too large',
      413,
      async () => `PUT ${await release.link('shasums-upload')}`,
    ],
    ['for a request that is no upload', 'a document without a token', 401, () => 'POST /api/v2/organizations'],
  ];

  it.each(rows)(
    'is answered for a client that sends everything first, and the connection closes: %s',
    async (_, why, status, requestOf) => {
      const request = await requestOf();
      for (const [header, body] of [
        ['Transfer-Encoding: chunked', chunked()],
        [`Content-Length: ${PIECES * MIB}`, repeated(filler, PIECES)],
      ] as const) {
        const socket = connect(product.port, '127.0.0.1');
        const closed = once(socket, 'close');
        try {
          const answer = await sendFirst(socket, head(request, header), body);
          expect({ why, line: answer.split('\r\n')[0] }).toEqual({
            why,
            line: expect.stringMatching(`^HTTP/1.1 ${status} `),
          });
          await closed;
        } finally {
          socket.destroy();
        }
      }
    },
    LONG,
  );

  it(
    'is answered for a client that reads while it sends',
    async () => {
      const link = `${product.url}${await release.link('shasums-upload')}`;
      const body = () => Readable.from(repeated(filler, PIECES)) as unknown as ReadableStream;
      for (let n = 0; n < 3; n += 1) {
        const answer = await fetch(link, { method: 'PUT', body: body(), duplex: 'half' });
        expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('larger than 128 KiB')]);
      }
    },
    LONG,
  );
});

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../../../test/support/product.js';
import { EventStoreModule } from '#storage/event-store';
import { ensureLocalCertificates, NestLoggerAdapter } from '#platform/host';
import { makeRelease, type TestRelease } from '../../../../test/support/releases.js';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { HealthController } from '../health/health.controller.js';
import { createHttpServer } from './http.server.js';
import { Readiness } from '../health/server.readiness.js';

const MIB = 1024 * 1024;
const open: RawConnection[] = [];

afterEach(() => open.splice(0).forEach((connection) => connection.destroy()));

const connectTo = ({ url }: TestServer): RawConnection => {
  const connection = new RawConnection(url);
  open.push(connection);
  return connection;
};

const detailOf = (body: string): string =>
  (JSON.parse(body) as { errors: { detail: string }[] }).errors[0]?.detail ?? '';

describe('a slow client', () => {
  let server: TestServer;
  let release: TestRelease;

  beforeAll(async () => {
    server = await startTestServer({
      limits: { headersMs: 300, uploadBytesPerSecond: 1_000, uploadWindowMs: 300 },
    });
    await makeOrganization(server, 'acme');
    release = await makeRelease(server, 'acme', 'slow', { keyId: 'NONE' });
  });

  afterAll(() => server.close());

  it('gets 408 if its headers take too long, even if bytes arrive', async () => {
    const connection = connectTo(server).send('GET /api/v2/ping HTTP/1.1\r\nHost: localhost\r\n');
    const dripping = setInterval(() => connection.send('x'), 50);
    const { status, headers, body } = await connection.answer();
    await connection.closed;
    clearInterval(dripping);
    expect([status, headers['connection'], detailOf(body)]).toEqual([
      408,
      'close',
      'The headers of the request did not arrive in time.',
    ]);
  });

  it('is disconnected if it sends nothing', async () => {
    await expect(connectTo(server).closed).resolves.toBeUndefined();
  });

  describe('if the server uses TLS', () => {
    let url: string;
    let close: () => Promise<void>;

    beforeAll(async () => {
      @Module({})
      class NothingBehind {}
      const { store, clock, ids, logger, settings } = server.runtime;
      const folder = join(settings.dataFolder, 'tls-of-slow-clients');
      const tls = await ensureLocalCertificates(folder, ['localhost'], clock);
      const imports = [EventStoreModule.with({ store, clock, ids })];
      const root = { module: NothingBehind, imports, controllers: [HealthController], providers: [Readiness] };
      const app = await createHttpServer(root, {
        tls,
        logger: new NestLoggerAdapter(logger),
        limits: { headersMs: 300 },
      });
      await app.listen(0, '127.0.0.1');
      url = await app.getUrl();
      close = async () => {
        await app.close();
        await rm(folder, { recursive: true });
      };
    });

    afterAll(() => close());

    // The first bytes of a handshake: its type, the version and an incomplete length (RFC 8446 §5.1).
    it.each([
      ['never starts its handshake', ''],
      ['never finishes its handshake', '\u0016\u0003\u0001\u0002\u0000\u0001'],
    ])('is disconnected if it %s', async (_, bytes) => {
      const connection = new RawConnection(url);
      open.push(connection);
      if (bytes !== '') connection.send(bytes);
      await expect(connection.closed).resolves.toBeUndefined();
    });
  });

  it('gets 408 if its upload is slower than the minimum', async () => {
    const connection = connectTo(server);
    connection.request(`PUT ${await release.link('shasums-upload')}`, { 'content-length': 100_000 });
    const dripping = setInterval(() => connection.send('x'), 20);
    const { status, body } = await connection.answer();
    await connection.closed;
    clearInterval(dripping);
    expect([status, detailOf(body)]).toEqual([
      408,
      'The upload is too slow. At least 1000 bytes a second must arrive, on average over 0.3 seconds.',
    ]);
  });

  it('can upload for longer than any time-out if it is fast enough', async () => {
    const connection = connectTo(server);
    const pieces = 10;
    connection.request(`PUT ${await release.link('shasums-upload')}`, { 'content-length': pieces * 1_000 });
    let sent = 0;
    const sending = setInterval(() => {
      if (sent < pieces) connection.send('x'.repeat(1_000));
      sent += 1;
    }, 100);
    // The server reads the complete body, and refuses it because it is not a SHA256SUMS file.
    const { status } = await connection.answer();
    clearInterval(sending);
    expect([status, sent >= pieces]).toEqual([422, true]);
  });

  it.each([
    ['not HTTP', 'HELO example.test\r\n\r\n', 'The request is not valid HTTP.'],
    [
      'headers of 20 KB',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      'The headers of the request are too large. At most 16 KiB are accepted.',
    ],
  ])('gets 400 and is disconnected for %s', async (_, text, detail) => {
    const connection = connectTo(server).send(text);
    const { status, body } = await connection.answer();
    expect([status, detailOf(body)]).toEqual([400, detail]);
    await connection.closed;
  });
});

describe('a refused body', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer({ limits: { drainBytes: 4 * MIB, drainMs: 300 } });
  });

  afterAll(() => server.close());

  const refused = (length: number): RawConnection =>
    connectTo(server).request('POST /api/v2/organizations', { 'content-length': length });

  it('can be sent completely before the client reads the response, and the connection closes', async () => {
    const connection = refused(3 * MIB).pause();
    await connection.sendAll([Buffer.alloc(MIB), Buffer.alloc(MIB), Buffer.alloc(MIB)]);
    const { status, headers } = await connection.resume().answer();
    expect([status, headers['connection']]).toEqual([401, 'close']);
    await connection.closed;
  });

  it('is not read beyond the limit', async () => {
    const connection = refused(1_000 * MIB);
    const endless = function* () {
      for (;;) yield Buffer.alloc(MIB);
    };
    await connection.sendAll(endless());
    await expect(connection.closed).resolves.toBeUndefined();
  });

  it('does not delay the response', async () => {
    const connection = refused(3 * MIB);
    expect((await connection.answer()).status).toBe(401);
    await connection.closed;
  });

  it('keeps the connection open if it is short', async () => {
    const connection = refused(4).send('{}');
    const { status, headers } = await connection.answer();
    expect([status, headers['connection']]).not.toEqual([401, 'close']);
    connection.send('{}').request('GET /healthz');
    expect((await connection.answer()).status).toBe(200);
  });
});

describe('connections', () => {
  const probe = async (server: TestServer): Promise<number> =>
    (await connectTo(server).request('GET /healthz').answer()).status;

  it('get 503 and are closed above the limit, until other connections end', async () => {
    const server = await startTestServer({ limits: { connections: 2 } });
    try {
      const [first, second] = [connectTo(server), connectTo(server)];
      for (const connection of [first, second]) {
        expect((await connection.request('GET /healthz').answer()).status).toBe(200);
      }
      const third = connectTo(server).request('GET /healthz');
      const { status, headers, body } = await third.answer();
      expect([status, headers['retry-after'], headers['connection']]).toEqual([503, '1', 'close']);
      expect(detailOf(body)).toBe('The server has too many connections. Please try again.');
      await third.closed;
      first.destroy();
      await first.closed;
      await waitUntil(async () => (await probe(server)) === 200, 'the server accepts connections again');
    } finally {
      await server.close();
    }
  });

  it('are limited for each address that is not a trusted proxy', async () => {
    const limits = { connectionsPerAddress: 1 };
    for (const [env, expected] of [
      [{}, 503],
      [{ CADASTRE_TRUSTED_PROXIES: '127.0.0.0/8' }, 200],
    ] as const) {
      const server = await startTestServer({ limits, env });
      try {
        expect(await probe(server)).toBe(200);
        expect(await probe(server)).toBe(expected);
      } finally {
        await server.close();
      }
    }
  });

  it('are closed at a stop if no request has come on them', async () => {
    // Longer than a test may take, because Node would close the connection after this time.
    const server = await startTestServer({ limits: { headersMs: 299_000 } });
    const unused = connectTo(server);
    expect(await probe(server)).toBe(200);
    await server.close();
    await unused.closed;
  });
});

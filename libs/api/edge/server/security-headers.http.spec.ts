import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventStoreModule } from '#storage/event-store';
import { ensureLocalCertificates, NestLoggerAdapter } from '#platform/host';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { HealthController } from '../health/health.controller.js';
import { createHttpServer } from './http.server.js';
import { Readiness } from '../health/server.readiness.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

describe('security headers', () => {
  it.each([
    ['/api/v2/organizations/acme', 200],
    ['/api/v2/organizations/nobody', 404],
    ['/api/v2/nothing', 404],
    ['/.well-known/terraform.json', 200],
    ['/healthz', 200],
  ])('are in the response of %s', async (path, status) => {
    const { headers, ...answer } = await server.get(path);
    expect(answer.status).toBe(status);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('are in a response that is refused before the route', async () => {
    const answer = await server.as(null).get('/api/v2/organizations/acme');
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('do not change the media type of the discovery document', async () => {
    expect((await server.get('/.well-known/terraform.json')).headers.get('content-type')).toBe('application/json');
  });

  it('require HTTPS only if the server uses TLS and is not localhost, whose other ports need no HTTPS', async () => {
    @Module({})
    class NothingBehind {}
    const { store, clock, ids, logger, settings } = server.runtime;
    const folder = join(settings.dataFolder, 'tls-of-a-test');
    const tls = await ensureLocalCertificates(folder, ['localhost'], clock);
    const imports = [EventStoreModule.with({ store, clock, ids })];
    const root = { module: NothingBehind, imports, controllers: [HealthController], providers: [Readiness] };
    const open = (isLocalhost: boolean) =>
      createHttpServer(root, { tls, isLocalhost, logger: new NestLoggerAdapter(logger) });
    const apps = [await open(false), await open(true)];
    try {
      const answers = await Promise.all(apps.map((app) => app.inject({ url: '/healthz' })));
      const policies = answers.map(({ headers }) => headers['strict-transport-security']);
      expect(policies).toEqual(['max-age=31536000', undefined]);
      expect((await server.get('/healthz')).headers.has('strict-transport-security')).toBe(false);
    } finally {
      await Promise.all(apps.map((app) => app.close()));
      await rm(folder, { recursive: true });
    }
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../../../test/support/folders.js';
import type { ApiDescription } from '../../../../test/support/described-responses.js';
import { expectStatus, makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { checkFilters } from './known-filters.interceptor.js';

const check =
  (query: object, accepted: readonly string[] = []) =>
  () =>
    checkFilters(query, accepted);

describe('a query', () => {
  it('is refused for the first filter that the route does not accept', () => {
    expect(check({ 'page[size]': '1', 'filter[b]': '', 'search[c]': '' }, ['filter[a]', 'search[b]'])).toThrow(
      'filter[b]: is not supported, accepted are filter[a], search[b]',
    );
    expect(check({ 'search[a]': 'x' })).toThrow('search[a]: is not supported, no filters are accepted here');
    expect(check({ [`filter[${'x'.repeat(5_000)}]`]: '' })).toThrow(/^filter\[x{93}: is not/);
    expect(check({ 'filter[constructor]': '' }, ['filter[a]'])).toThrow('filter[constructor]: is not supported');
  });

  it('can have other parameters, and any index', () => {
    expect(check({ colour: 'red', filter: 'x', 'filters[a]': '', q: '', 'q[name]': '' })).not.toThrow();
    expect(check({ 'filter[a][17][key]': '' }, ['filter[a][0][key]'])).not.toThrow();
    expect(check({ 'filter[a][x][key]': '' }, ['filter[a][0][key]'])).toThrow('is not supported');
  });
});

describe('each list', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
    await makeOrganization(server, 'acme');
  });

  afterAll(() => server.close());

  const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as Pick<
    ApiDescription,
    'paths'
  >;
  const lists = Object.entries(paths).flatMap(([path, { get }]) =>
    get?.parameters?.some(({ name }) => name === 'page[number]') && path.startsWith('/api/') ? [path] : [],
  );

  it('refuses an unknown filter by its name', async () => {
    expect(lists.length).toBeGreaterThan(40);
    for (const path of lists) {
      const address = path.replaceAll(/\{\w+\}/g, 'acme');
      const { errors } = expectStatus(await server.get(`${address}?filter[colour]=red`), 400).body;
      expect(errors[0]).toMatchObject({ source: { parameter: 'filter[colour]' } });
    }
  });

  it('answers 401 first to callers without a valid token', async () => {
    expectStatus(await server.as(null).get('/api/v2/organizations/acme/workspaces?filter[colour]=red'), 401);
  });

  it('ignores other unknown parameters', async () => {
    // Sent with fetch, because the test client refuses parameters that the description does not have.
    const { status } = await fetch(`${server.url}/api/v2/organizations/acme/workspaces?colour=red&filter=red`, {
      headers: { authorization: `Bearer ${server.adminToken}` },
    });
    expect(status).toBe(200);
  });
});

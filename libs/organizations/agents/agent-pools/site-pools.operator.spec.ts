import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectStatus, resource } from '../../../../test/support/seeds.js';
import { createSitePool, deleteSitePool, listSitePoolsForOperator } from './site-pools.operator.js';

const LONG_AGO = new Date(0);
const TOKEN = { description: 'for a test', expiredAt: null };

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
});

afterAll(() => server.close());

const create = (name: string, existing: 'refuse' | 'use'): Promise<string> =>
  createSitePool(server.runtime, name, TOKEN, { existing, by: 'a test' });

const register = async (secret: string): Promise<void> => {
  const body = resource('agents', { name: 'one', 'protocol-version': '1.0' });
  expectStatus(await server.as(secret).post('/api/v2/agents', body), 201);
};

describe('an operator', () => {
  it('creates pools of the site, gets further tokens of them, and deletes them with all tokens', async () => {
    const first = await create('builders', 'use');
    const second = await create('BUILDERS', 'use');
    await register(first);
    await register(second);
    expect(await listSitePoolsForOperator(server.store, LONG_AGO)).toMatchObject([
      { name: 'builders', agents: 2, tokens: 2 },
    ]);
    await expect(create('Builders', 'refuse')).rejects.toThrow('Name has already been taken');
    const trail = expectStatus(await server.get('/api/v2/admin/audit-trail?page[size]=10'), 200).body.data;
    const sources = trail.map(({ auth, resource: { type, action } }: any) => `${auth.description} ${type} ${action}`);
    expect(sources).toEqual(expect.arrayContaining(['a test agent_pool create', 'a test authentication_token create']));

    await deleteSitePool(server.runtime, 'builders');
    expect(await listSitePoolsForOperator(server.store, LONG_AGO)).toEqual([]);
    expectStatus(await server.as(second).get('/api/v2/account/details'), 401);
    await expect(deleteSitePool(server.runtime, 'builders')).rejects.toThrow(
      'No pool of the site has the name builders',
    );
  });
});

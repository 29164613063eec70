import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { register } from 'prom-client';
import { FixedClock } from '../../../../test/support/clocks.js';
import { countStatements } from '../../../../test/support/cost.js';
import { expectStatus, makeToken, makeWorkspace, makeOrganization, resource } from '../../../../test/support/seeds.js';
import { waitUntil } from '../../../../test/support/product.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { ensureUser, issueUserToken } from '#identity/people';

let server: TestServer;
let clock: FixedClock;

/**
 * Starts a server for the tests of a block. Each test begins with full buckets and a token that the gateway has cached.
 */
const withServer = (env: Record<string, string>): void => {
  beforeAll(async () => {
    clock = new FixedClock();
    server = await startTestServer({ clock, env });
  });
  beforeEach(async () => {
    clock.pass({ minutes: 5 });
    await account(server)();
    clock.pass({ seconds: 2 });
  });
  afterAll(() => server.close());
};

const repeat = (times: number, send: () => Promise<ApiResponse>): Promise<ApiResponse[]> =>
  Promise.all(Array.from({ length: times }, send));

const statuses = (answers: readonly ApiResponse[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => String(status))].map(([key, all]) => [key, all.length]));

const account = (api: ApiTestClient) => (): Promise<ApiResponse> => api.get('/api/v2/account/details');

const newUser = async (name: string): Promise<ApiTestClient & { readonly id: string }> => {
  const { store, runtime } = server;
  const { id } = await ensureUser(store, runtime.ids, name, false);
  return { id, ...server.as(await issueUserToken(store, runtime.ids, id, 'for a test')) };
};

const statementsOf = (send: () => Promise<unknown>): Promise<number> => countStatements(server, send);

const metric = async (name: string, labels: object): Promise<number> => {
  const values = (await register.getSingleMetric(name)?.get())?.values ?? [];
  return values.find((each) => Object.entries(labels).every(([key, value]) => each.labels[key] === value))?.value ?? 0;
};

describe('the rate limit of a token', () => {
  withServer({ CADASTRE_RATE_LIMIT: '10' });

  it('accepts twice the limit at once and refuses the next request with the headers that clients read', async () => {
    const before = await metric('cadastre_rate_limited_requests_total', { limit: 'token' });
    const answers = await repeat(25, account(server));
    expect(statuses(answers)).toEqual({ 200: 20, 429: 5 });
    const refused = answers.find(({ status }) => status === 429);
    expect(Object.fromEntries(refused?.headers ?? [])).toMatchObject({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '0.1',
      'retry-after': '1',
    });
    expect(refused?.body.errors).toEqual([
      {
        status: '429',
        title: 'Too many requests',
        detail:
          'At most 10 requests per second are accepted from one token, 20 at once (CADASTRE_RATE_LIMIT, or the general settings of the site).',
      },
    ]);
    expect(await metric('cadastre_rate_limited_requests_total', { limit: 'token' })).toBe(before + 5);
  });

  it('accepts requests at the limit again as time passes', async () => {
    await repeat(20, account(server));
    clock.pass({ ms: 500 });
    expect(statuses(await repeat(10, account(server)))).toEqual({ 200: 5, 429: 5 });
  });

  it('does not refuse requests with another token', async () => {
    const otherClient = await newUser('grace');
    await repeat(30, account(server));
    expect(statuses(await repeat(5, account(otherClient)))).toEqual({ 200: 5 });
  });

  it('refuses without a database statement, whatever the route', async () => {
    await repeat(20, account(server));
    const paths = ['/api/v2/organizations', '/api/v2/nothing', '/api/v2/ping'];
    const statements = await statementsOf(async () => {
      for (const path of paths) expectStatus(await server.get(path), 429);
    });
    expect(statements).toBe(0);
  });

  it('refuses before it reads the body', async () => {
    await repeat(20, account(server));
    expect((await server.post('/api/v2/organizations', '{ "this is": no JSON')).status).toBe(429);
  });

  it('never refuses the health checks', async () => {
    await repeat(30, account(server));
    for (const path of ['/healthz', '/readyz', '/metrics']) expect((await server.get(path)).status).toBe(200);
  });

  it('is announced by ping', async () => {
    expect((await server.get('/api/v2/ping')).headers.get('x-ratelimit-limit')).toBe('10');
  });
});

describe('a rate limit of the general settings', () => {
  withServer({});

  const change = async (attributes: object): Promise<void> => {
    const body = resource('general-settings', attributes);
    expectStatus(await server.patch('/api/v2/admin/general-settings', body), 200);
  };
  const announced = async (gateway: ApiTestClient): Promise<string | null> =>
    (await gateway.get('/api/v2/ping')).headers.get('x-ratelimit-limit');

  it('applies from the next request on, is announced by ping, and ends when it is switched off', async () => {
    await change({ 'api-rate-limiting-enabled': true, 'api-rate-limit': 30 });
    expect(await announced(server)).toBe('30');
    expect(statuses(await repeat(70, account(server)))).toEqual({ 200: 59, 429: 11 });
    clock.pass({ seconds: 2 });
    await change({ 'api-rate-limiting-enabled': false });
    expect(statuses(await repeat(70, account(server)))).toEqual({ 200: 70 });
    expect(await announced(server)).toBeNull();
  });

  it('is used by another gateway ten seconds later', async () => {
    const second = await startAnotherGateway(server);
    try {
      await change({ 'api-rate-limiting-enabled': true, 'api-rate-limit': 40 });
      expect(await announced(second)).toBeNull();
      clock.pass({ seconds: 10 });
      await waitUntil(async () => (await announced(second)) === '40', 'the limit of the other gateway');
    } finally {
      await second.close();
      await change({ 'api-rate-limiting-enabled': null, 'api-rate-limit': null });
    }
    expect(await announced(server)).toBeNull();
  });
});

describe('a rate limit that is off', () => {
  withServer({});

  it('refuses nothing and is not announced', async () => {
    expect((await server.get('/api/v2/ping')).headers.get('x-ratelimit-limit')).toBeNull();
    expect(statuses(await repeat(60, account(server)))).toEqual({ 200: 60 });
  });
});

describe('the rate limit of an address', () => {
  withServer({ CADASTRE_ADDRESS_RATE_LIMIT: '5' });

  it('counts requests without a token and with unknown ones together', async () => {
    const anonymous = await repeat(6, account(server.as(null)));
    const unknown = await repeat(6, account(server.as('wrong')));
    expect(statuses([...anonymous, ...unknown])).toEqual({ 401: 10, 429: 2 });
  });

  it('does not refuse a token that the gateway has cached', async () => {
    await repeat(12, account(server.as(null)));
    expect((await account(server)()).status).toBe(200);
  });

  it('counts signed links', async () => {
    await makeOrganization(server, 'acme');
    const workspace = await makeWorkspace(server, 'acme', 'one');
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const file = stateFile();
    const stateVersion = expectStatus(
      await server.post(`/api/v2/workspaces/${workspace}/state-versions`, newStateVersion(file, { inline: false })),
      201,
    ).body.data.attributes;
    await repeat(11, () => server.as(null).get('/.well-known/terraform.json'));
    const link = new URL(stateVersion['hosted-state-upload-url'] as string);
    const upload = () => server.as(null).put(`${link.pathname}${link.search}`, file.bytes);
    expect((await upload()).status).toBe(429);
    clock.pass({ seconds: 1 });
    expect((await upload()).status).toBe(200);
  });
});

describe('wrong tokens', () => {
  withServer({ CADASTRE_WRONG_TOKEN_LIMIT: '3' });
  let wrongTokens = 0;
  /** Returns a function that sends a new wrong token. */
  const newWrong = () => account(server.as(`wrong-${(wrongTokens += 1)}`));

  it('are refused with 429 beyond the limit of their address, without a database statement', async () => {
    for (let n = 0; n < 3; n += 1) expectStatus(await newWrong()(), 401);
    const statements = await statementsOf(async () => {
      const refused = expectStatus(await newWrong()(), 429);
      expect(refused.body.errors[0].detail).toContain('at most 3 per minute are accepted (CADASTRE_WRONG_TOKEN_LIMIT)');
      expect(refused.headers.get('retry-after')).toBe('20');
      expect(refused.headers.get('x-ratelimit-reset')).toBe('20');
    });
    expect(statements).toBe(0);
    clock.pass({ seconds: 20 });
    expectStatus(await newWrong()(), 401);
  });

  it('are looked up once in ten seconds, however often they are sent', async () => {
    const wrong = newWrong();
    expect(await statementsOf(wrong)).toBe(1);
    expect(await statementsOf(() => repeat(2, wrong))).toBe(0);
    clock.pass({ minutes: 1 });
    expect(await statementsOf(wrong)).toBe(1);
  });

  it('do not lock out a token that the gateway has cached, at the same address', async () => {
    for (let n = 0; n < 4; n += 1) await newWrong()();
    expectStatus(await account(server)(), 200);
    // Even if the caller of the token has to be read again.
    server.authenticator.forget(server.adminToken);
    expect((await account(server)()).status).toBe(200);
  });

  it('do not lock out a new token at the same address if one wrong token is repeated', async () => {
    const otherClient = await newUser('grace');
    const wrong = newWrong();
    expectStatus(await wrong(), 401);
    expect(statuses(await repeat(10, wrong))).toEqual({ 401: 2, 429: 8 });
    expectStatus(await account(otherClient)(), 200);
  });

  it('do not prevent the use of a token that was created through another gateway', async () => {
    const second = await startAnotherGateway(server);
    try {
      const me = expectStatus(await account(server)(), 200).body.data.id as string;
      const secret = await makeToken(second, `/api/v2/users/${me}/authentication-tokens`);
      expect((await account(server.as(secret))()).status).toBe(200);
    } finally {
      await second.close();
    }
  });

  it('are counted by reason', async () => {
    const count = (reason: string) => metric('cadastre_refused_authentications_total', { reason });
    const [unknown, missing] = [await count('unknown'), await count('missing')];
    await repeat(2, newWrong());
    await account(server.as(null))();
    expect([await count('unknown'), await count('missing')]).toEqual([unknown + 2, missing + 1]);
  });

  it('get 401 with the scheme that is accepted', async () => {
    expect((await newWrong()()).headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('the limit of access changes', () => {
  withServer({ CADASTRE_ACCESS_CHANGE_LIMIT: '2' });

  it('counts new tokens and changes of an account together, for each caller', async () => {
    const [one, otherUser] = [await newUser('ada'), await newUser('grace')];
    const rename = (api: ApiTestClient, name: string) => () =>
      api.patch('/api/v2/account/update', resource('users', { username: name }));
    const issue = (api: ApiTestClient, id: string) => () => api.post(`/api/v2/users/${id}/authentication-tokens`);
    expectStatus(await rename(one, 'ada-2')(), 200);
    for (let n = 0; n < 3; n += 1) expectStatus(await issue(one, one.id)(), 201);
    const refused = expectStatus(await rename(one, 'ada-3')(), 429);
    expect(refused.body.errors[0].detail).toBe(
      'At most 2 tokens or changes of an account per second are accepted from one caller, 4 at once ' +
        '(CADASTRE_ACCESS_CHANGE_LIMIT).',
    );
    expectStatus(await issue(otherUser, otherUser.id)(), 201);
    expectStatus(await account(one)(), 200);
    clock.pass({ seconds: 1 });
    expectStatus(await rename(one, 'ada-3')(), 200);
  });
});

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../test/support/clocks.js';
import { readWholeLog } from '../../../test/support/event-log.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { signInTestUser } from '../../../test/support/sessions.js';
import { FormClient, makePerson, PASSWORD, signInByLink } from '../../../test/support/sign-in.js';

// Routes that give access after a session has ended need a sign-in of the last 15 minutes.

const CONSENT =
  '/oauth/authorize?client_id=terraform-cli&redirect_uri=http%3A%2F%2Flocalhost%3A10000%2Flogin&response_type=code' +
  `&code_challenge=${'a'.repeat(43)}&code_challenge_method=S256&state=s`;

const clock = new FixedClock();
let server: TestServer;
let ada: string;
let client: FormClient;

beforeAll(async () => {
  server = await startTestServer({ clock });
  ada = await makePerson(server, 'ada');
});

beforeEach(async () => {
  client = await signInByLink(server, ada);
});

afterAll(() => server.close());

const countEvents = async (): Promise<number> => (await readWholeLog(server.store)).length;
const asSession = () => signInTestUser(server, ada);
const createOwn = (api: ReturnType<TestServer['as']>) =>
  api.post(`/api/v2/users/${ada}/authentication-tokens`, { data: { type: 'authentication-tokens', attributes: {} } });

type OpenApi = { readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>> };

/** Requests of the API that create something with which a caller has access. */
const listCredentialRequests = async (): Promise<readonly (readonly [string, string])[]> => {
  const document = JSON.parse(await readFile('docs/reference/openapi.json', 'utf8')) as OpenApi;
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => ['post', 'patch', 'put'].includes(method))
      .filter(() => /(?:-tokens?|workload-identities|identity-providers)(?:\/\{[^}]+\})?$/.test(path))
      // The token of a run ends with the run, and only its agent can create it.
      .filter(() => path.startsWith('/api/v2/') && !path.includes('/runs/'))
      // The token of a Git host gives no access to this server.
      .filter(() => !path.startsWith('/api/v2/oauth-tokens/'))
      .map((method) => [method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, 'x')] as const),
  );
};

describe('a session of 15 minutes', () => {
  it('is refused for routes that give access after its end, with the remedy', async () => {
    const requests = await listCredentialRequests();
    expect(requests.map(([method, path]) => `${path} ${method}`).toSorted()).toEqual([
      '/api/v2/admin/identity-providers POST',
      '/api/v2/admin/identity-providers/x PATCH',
      '/api/v2/admin/identity-providers/x/scim-tokens POST',
      '/api/v2/admin/scim-tokens POST',
      '/api/v2/agent-pools/x/authentication-tokens POST',
      '/api/v2/organizations/x/authentication-token POST',
      '/api/v2/teams/x/authentication-token POST',
      '/api/v2/teams/x/authentication-tokens POST',
      '/api/v2/teams/x/workload-identities POST',
      '/api/v2/users/x/authentication-tokens POST',
      '/api/v2/workload-identities/x PATCH',
    ]);
    const api = await asSession();
    clock.pass({ minutes: 15 });
    const before = await countEvents();
    for (const [method, path] of requests) {
      const { status, body } = await (method === 'POST' ? api.post(path, {}) : api.patch(path, {}));
      expect([path, status, body.errors[0]]).toEqual([
        path,
        403,
        {
          status: '403',
          title: 'forbidden',
          detail:
            'This needs a sign-in of the last 15 minutes. Sign in again at /sign-in?confirm=1, and send the request again.',
          meta: { required: 'recent-sign-in' },
        },
      ]);
    }
    expect(await countEvents()).toBe(before);
  });

  it('can create a token a millisecond earlier', async () => {
    const api = await asSession();
    clock.pass({ minutes: 14, seconds: 59, ms: 999 });
    expect((await createOwn(api)).status).toBe(201);
    clock.pass({ ms: 1 });
    expect((await createOwn(api)).status).toBe(403);
  });

  it('can read and revoke tokens', async () => {
    const api = await asSession();
    const { id } = (await createOwn(api)).body.data;
    clock.pass({ minutes: 60 });
    expect((await api.get(`/api/v2/users/${ada}/authentication-tokens`)).status).toBe(200);
    expect((await api.delete(`/api/v2/authentication-tokens/${id}`)).status).toBe(204);
  });

  it('is sent to the sign-in from the consent page and from an approval, and then returns', async () => {
    clock.pass({ minutes: 15 });
    const confirm = `/sign-in?confirm=1&return_to=${encodeURIComponent(CONSENT)}`;
    const consent = await client.get(CONSENT);
    expect([consent.status, consent.headers.get('location')]).toEqual([303, confirm]);
    const decided = await client.post(CONSENT, { decision: 'approve' });
    expect([decided.status, decided.headers.get('location')]).toEqual([303, confirm]);
    await client.post('/sign-in', { login: 'ada', password: PASSWORD, return_to: CONSENT });
    expect((await client.get(CONSENT)).status).toBe(200);
    const approved = await client.post(CONSENT, { decision: 'approve' });
    expect(approved.headers.get('location')).toMatch(/^http:\/\/localhost:10000\/login\?code=/);
  });
});

describe('the sign-in page', () => {
  it('lets another person sign in, whose session replaces that of the first', async () => {
    await makePerson(server, 'dora');
    expect((await client.get('/sign-in?return_to=/account')).status).toBe(303);
    expect((await client.get('/sign-in?switch=1&return_to=/account')).status).toBe(200);
    await client.post('/sign-in', { login: 'dora', password: PASSWORD });
    expect(await (await client.get('/account')).text()).toContain('>dora</a>');
  });
});

describe('a token', () => {
  it('creates tokens at any age', async () => {
    const api = server.as((await createOwn(await asSession())).body.data.attributes.token);
    clock.pass({ days: 30 });
    expect((await createOwn(api)).status).toBe(201);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { FormClient, makePerson, PASSWORD, signInByLink } from '../../../../test/support/sign-in.js';

const TOKENS = '/account/tokens';
const clock = new FixedClock();
let server: TestServer;
let ada: string;
let client: FormClient;

beforeAll(async () => {
  server = await startTestServer({
    clock,
    env: { CADASTRE_MAX_TOKENS_PER_OWNER: '102', CADASTRE_ACCESS_CHANGE_LIMIT: '60' },
  });
  ada = await makePerson(server, 'ada');
  client = await signInByLink(server, ada);
});

afterAll(() => server.close());

const create = (description: string, from = client) => from.post(TOKENS, { description });
const textOf = async (path = TOKENS, from = client) => (await from.get(path)).text();
const tokenIn = (page: string): string => /<pre class="secret"><code>([^<]+)</.exec(page)?.[1] ?? '';
const idsIn = (page: string): string[] =>
  [...page.matchAll(/action="\/account\/tokens\/([^/]+)\/revocation"/g)].map(([, id = '']) => id);

describe('the page of tokens', () => {
  it('creates a token of the person with a description and an end, and shows it once', async () => {
    const response = await create('  laptop & <more>  ');
    const page = await response.text();
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const api = server.as(tokenIn(page));
    const [listed] = (await api.get(`/api/v2/users/${ada}/authentication-tokens`)).body.data;
    expect(listed.attributes.description).toBe('laptop & <more>');
    expect(page).toContain(`<time datetime="${listed.attributes['expired-at']}"`);
    expect(await textOf()).toContain('laptop &amp; &lt;more&gt;');
    expect(await textOf()).not.toContain(tokenIn(page));
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({
      type: 'AuthenticationTokenCreated',
      data: { owner: ada, assurance: 'password', createdBy: { id: ada } },
    });
  });

  it('creates a token with the chosen restriction, and shows what it may do', async () => {
    const response = await client.post(TOKENS, { description: 'inventory', access: 'read-only', organization: '' });
    expect(await response.text()).toContain('Access: read only.');
    expect(await textOf()).toContain('<td data-label="Access">read only</td>');
  });

  it('shows the file of Terraform for each token, except for a token that only reads audit trails', async () => {
    const visibility: boolean[] = [];
    for (const access of ['full', 'read-only', 'audit-only']) {
      const page = await (await client.post(TOKENS, { description: access, access, organization: '' })).text();
      expect(tokenIn(page)).not.toBe('');
      visibility.push(page.includes('credentials.tfrc.json'));
    }
    expect(visibility).toEqual([true, true, false]);
  });

  it('keeps all fields if the name of the organization is wrong', async () => {
    const form = { description: 'inventory', access: 'audit-only', organization: 'nowhere' };
    const response = await client.post(TOKENS, form);
    const page = await response.text();
    expect([response.status, page]).toEqual([422, expect.stringContaining('no member of &quot;nowhere&quot;')]);
    expect(page).toMatch(/value="audit-only"\s+checked/);
    expect(page).toContain('value="nowhere"');
  });

  it('selects the access of its query, so that a sign-in in between does not change the choice', async () => {
    const page = await textOf(`${TOKENS}?description=x&access=read-only&organization=acme`);
    expect(page).toMatch(/value="read-only"\s+checked/);
    expect(page).toContain('value="acme"');
  });

  it('revokes a token at once', async () => {
    // The newest token comes first.
    clock.pass({ minutes: 1 });
    const page = await (await create('to revoke')).text();
    const api = server.as(tokenIn(page));
    expect((await api.get('/api/v2/account/details')).status).toBe(200);
    const [id = ''] = idsIn(await textOf());
    const response = await client.post(`${TOKENS}/${id}/revocation`);
    expect([response.status, response.headers.get('location')]).toEqual([303, `${TOKENS}?done=revoked`]);
    expect((await api.get('/api/v2/account/details')).status).toBe(401);
    expect((await client.post(`${TOKENS}/${id}/revocation`)).status).toBe(404);
  });

  it('neither shows nor revokes tokens of another person', async () => {
    const other = await signInByLink(server, await makePerson(server, 'bob'));
    await create('of ada');
    const [id = ''] = idsIn(await textOf());
    expect(await textOf(TOKENS, other)).toContain('You have no tokens.');
    expect((await other.post(`${TOKENS}/${id}/revocation`)).status).toBe(404);
    expect(idsIn(await textOf())).toContain(id);
  });

  it('is the page that terraform opens to paste a token', async () => {
    expect(await textOf('/app/settings/tokens?source=terraform-login')).toContain('Create a token');
    const visitor = new FormClient(server.url, server.runtime.settings.publicUrl);
    const response = await visitor.get('/app/settings/tokens?source=terraform-login');
    expect(response.headers.get('location')).toContain(encodeURIComponent('/app/settings/tokens?source='));
  });

  it.each([
    ['an empty description', '   ', 'The description must have 1 to 200 characters, got 0'],
    ['a long description', 'a'.repeat(201), 'The description must have 1 to 200 characters, got 201'],
  ])('refuses %s', async (_, description, reason) => {
    const before = idsIn(await textOf()).length;
    const response = await create(description);
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(reason)]);
    expect(idsIn(await textOf())).toHaveLength(before);
  });

  it('refuses forms of other sites, without an origin and without a session', async () => {
    for (const headers of [{ origin: 'https://attacker.example' }, {}] as readonly Record<string, string>[])
      expect((await client.post(TOKENS, { description: 'x' }, headers)).status).toBe(403);
    const response = await create('x', new FormClient(server.url, server.runtime.settings.publicUrl));
    expect([response.status, response.headers.get('location')]).toEqual([303, '/sign-in?return_to=%2Faccount']);
  });

  it('has further pages, and names the limit of tokens', async () => {
    const carol = await signInByLink(server, await makePerson(server, 'carol'));
    for (let n = 0; n < 102; n += 1) {
      clock.pass({ seconds: 1 });
      expect((await create(`token ${n}`, carol)).status).toBe(200);
    }
    const [first, second] = [await textOf(TOKENS, carol), await textOf(`${TOKENS}?page%5Bnumber%5D=2`, carol)];
    expect([idsIn(first).length, idsIn(second).length]).toEqual([100, 2]);
    expect([first.includes('Older tokens'), first.includes('Newer tokens')]).toEqual([true, false]);
    expect([second.includes('Older tokens'), second.includes('Newer tokens')]).toEqual([false, true]);
    const refused = await create('one more', carol);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('102')]);
  });

  it('limits how many tokens a person creates in a second', async () => {
    clock.pass({ minutes: 1 });
    const answers = await Promise.all(Array.from({ length: 125 }, () => create('')));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  });
});

describe('the sign-in page', () => {
  it('lets another person sign in, whose session replaces that of the first', async () => {
    await makePerson(server, 'dora');
    const browser = await signInByLink(server, ada);
    expect((await browser.get('/sign-in?return_to=/account')).status).toBe(303);
    expect((await browser.get('/sign-in?switch=1&return_to=/account')).status).toBe(200);
    await browser.post('/sign-in', { login: 'dora', password: PASSWORD });
    expect(await textOf('/account', browser)).toContain('>dora</a>');
  });
});

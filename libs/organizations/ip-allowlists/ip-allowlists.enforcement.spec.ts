import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { checkDescribedResponse } from '../../../test/support/described-responses.js';
import { logLength } from '../../../test/support/event-log.js';
import { runBetween } from '../../../test/support/interleaving.js';
import { StreamReader } from '../../../test/support/live-streams.js';
import { addKey, makeProvider, makeVersion, publishVersion } from '../../../test/support/registry.js';
import { makeSigner } from '../../../test/support/releases.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRemotePool,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../test/support/seeds.js';
import {
  createApiTestClient,
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestGateway,
  type TestServer,
} from '../../../test/support/server.js';
import { removeIpAllowlist } from './index.js';
import { newStateVersion, pathOf, stateFile } from '../../../test/support/state-file.js';

const OFFICE = '203.0.113.7';
const HOME = '198.51.100.9';
const REFUSED = /^Forbidden: the IP allowlist of this organization does not contain your address, 198\.51\.100\.9\./;

let server: TestServer;
let otherGateway: TestGateway;
let acme: SeededOrganization;
let olga: SeededMember;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer({ env: { CADASTRE_TRUSTED_PROXIES: '127.0.0.1' } });
  otherGateway = await startAnotherGateway(server);
  acme = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'other');
  olga = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
  workspace = await makeWorkspace(server, 'acme', 'one');
});

afterAll(async () => {
  await otherGateway.close();
  await server.close();
});

const at = (address: string, token: string | null, { url }: { readonly url: string } = server): ApiTestClient =>
  createApiTestClient(url, token, checkDescribedResponse, address);

const lists: string[] = [];
let count = 0;

/** Creates a list of acme, which is deleted after the test. Returns its path. */
const restrict = async (
  range: string | null,
  scope = 'organization',
  pools: readonly string[] = [],
): Promise<string> => {
  const ranges = range === null ? [] : [{ type: 'cidr-ranges', attributes: { range } }];
  const body = resource(
    'cidr-range-lists',
    { name: `list ${(count += 1)}`, 'enforcement-scope': scope },
    { 'cidr-ranges': { data: ranges } },
  );
  const { data } = expectStatus(await server.post('/api/v2/organizations/acme/cidr-range-lists', body), 201).body;
  lists.push(data.links.self);
  if (pools.length > 0) {
    expectStatus(
      await server.post(`${data.links.self}/relationships/agent-pools`, related('agent-pools', ...pools)),
      204,
    );
  }
  return data.links.self;
};

afterEach(async () => {
  for (const list of lists.splice(0)) await server.delete(list);
});

/** Makes a person a member of another organization too. */
const invite = async ({ email }: SeededMember, organization: string): Promise<void> => {
  const body = resource('organization-memberships', { email });
  const invited = await server.post(`/api/v2/organizations/${organization}/organization-memberships`, body);
  const { id } = expectStatus(invited, 201).body.data;
  expectStatus(await server.post(`/api/v2/organization-memberships/${id}/actions/accept`), 200);
};

const detailOf = ({ body }: ApiResponse): string => body.errors[0].detail;

describe('an IP allowlist of an organization', () => {
  it('refuses members at other addresses, on every gateway from the next request', async () => {
    const path = `/api/v2/workspaces/${workspace}`;
    const clients = [server, otherGateway].map((gateway) => at(HOME, olga.token, gateway));
    // Twice, so that the second response can be a kept one.
    for (const api of [...clients, ...clients]) expectStatus(await api.get(path), 200);
    await restrict('203.0.113.0/24');
    for (const api of clients) expect(detailOf(expectStatus(await api.get(path), 403))).toMatch(REFUSED);
    for (const gateway of [server, otherGateway, server, otherGateway]) {
      expectStatus(await at(OFFICE, olga.token, gateway).get(path), 200);
      // The document is kept for the other address now.
      expectStatus(await at(HOME, olga.token, gateway).get(path), 403);
    }
  });

  it('admits an address from the next request after its range was added or the list was deleted', async () => {
    const list = await restrict('203.0.113.0/24');
    const team = await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`);
    const callers = [
      at(HOME, olga.token),
      at(HOME, team),
      at(HOME, olga.token, otherGateway),
      at(HOME, team, otherGateway),
    ];
    for (const api of callers) expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 403);
    const range = resource('cidr-ranges', { range: HOME });
    const added = expectStatus(await server.post(`${list}/relationships/cidr-ranges`, range), 201).body.data;
    for (const api of callers) expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200);
    expectStatus(await server.patch(added.links.self, resource('cidr-ranges', { enabled: false })), 200);
    for (const api of callers) expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 403);
    expectStatus(await server.delete(list), 204);
    for (const api of callers) expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200);
  });

  it('refuses reads and changes by name and by id, lists omit the organization, and other organizations are unaffected', async () => {
    const project = acme.defaultProject;
    await invite(olga, 'other');
    await restrict('203.0.113.0/24');
    const api = at(HOME, olga.token);
    const length = await logLength(server.store);
    for (const path of [
      '/api/v2/organizations/acme',
      '/api/v2/organizations/acme/workspaces',
      '/api/v2/organizations/acme/workspaces/one',
      '/api/v2/organizations/acme/cidr-range-lists',
      `/api/v2/projects/${project}`,
      '/api/v2/organizations/acme/teams',
      '/api/v2/organizations/acme/audit-trail',
    ]) {
      expect([path, (await api.get(path)).status]).toEqual([path, 403]);
    }
    expectStatus(await api.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { name: 'two' })), 403);
    expectStatus(await api.post('/api/v2/organizations/acme/workspaces', resource('workspaces', { name: 'x' })), 403);
    expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`), 403);
    expectStatus(await api.delete('/api/v2/organizations/acme'), 403);
    expect(await logLength(server.store)).toBe(length);
    const names = async (caller: ApiTestClient) =>
      expectStatus(await caller.get('/api/v2/organizations'), 200).body.data.map(({ id }: any) => id);
    expect(await names(api)).not.toContain('acme');
    expect(await names(at(OFFICE, olga.token))).toContain('acme');
    expectStatus(await api.get('/api/v2/account/details'), 200);
    expectStatus(await api.get('/api/v2/organizations/other'), 200);
    const own = expectStatus(await api.get('/api/v2/organization-memberships'), 200).body;
    expect(own.data.map(({ relationships }: any) => relationships.organization.data.id)).toEqual(['other']);
    expect(own.meta.pagination['total-count']).toBe(1);
  });

  it('answers strangers with 404 at every address', async () => {
    const stranger = await makeMember(server, 'other', 'sam');
    await restrict('203.0.113.0/24');
    for (const address of [OFFICE, HOME]) {
      for (const path of [`/api/v2/workspaces/${workspace}`, '/api/v2/organizations/acme']) {
        expectStatus(await at(address, stranger.token).get(path), 404);
      }
    }
  });

  it('treats an IPv4 address that is written as IPv6 like the IPv4 address', async () => {
    await restrict('203.0.113.0/24');
    const path = `/api/v2/workspaces/${workspace}`;
    expectStatus(await at(`::ffff:${OFFICE}`, olga.token).get(path), 200);
    expectStatus(await at(`::ffff:${HOME}`, olga.token).get(path), 403);
  });

  it('ignores an address that the client adds in front of what the proxy has seen', async () => {
    await restrict('203.0.113.0/24');
    expectStatus(await at(`${OFFICE}, ${HOME}`, olga.token).get(`/api/v2/workspaces/${workspace}`), 403);
  });

  it('refuses tokens of teams and of the organization, and not the site administrator', async () => {
    const tokens = [
      await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`),
      await makeOrganizationToken(server, 'acme'),
      await makeToken(server, '/api/v2/organizations/acme/authentication-token?token=audit-trails'),
    ];
    await restrict('203.0.113.0/24');
    for (const token of tokens) {
      const path = '/api/v2/account/details';
      expect(detailOf(expectStatus(await at(HOME, token).get(path), 403))).toMatch(REFUSED);
      expectStatus(await at(OFFICE, token).get(path), 200);
    }
    expectStatus(await at(HOME, server.adminToken).get('/api/v2/organizations/acme'), 200);
  });

  it('does not let a person leave or accept an invitation at another address', async () => {
    const invited = await server.post(
      '/api/v2/organizations/acme/organization-memberships',
      resource('organization-memberships', { email: 'ivy@people.test' }),
    );
    const { id, relationships } = expectStatus(invited, 201).body.data;
    const ivy = await makeToken(server, `/api/v2/users/${relationships.user.data.id}/authentication-tokens`);
    await restrict('203.0.113.0/24');
    const accept = `/api/v2/organization-memberships/${id}/actions/accept`;
    expectStatus(await at(HOME, ivy).post(accept), 403);
    expectStatus(await at(OFFICE, ivy).post(accept), 200);
    expectStatus(await at(HOME, ivy).delete(`/api/v2/organization-memberships/${id}`), 403);
  });

  it('restricts nothing without an enabled range', async () => {
    await restrict(null);
    expectStatus(await at(HOME, olga.token).get(`/api/v2/workspaces/${workspace}`), 200);
  });

  it('ends live streams at other addresses before they get another message, and keeps the others', async () => {
    const open = (address: string) =>
      StreamReader.open(server, 'acme', olga.token, { headers: { 'x-forwarded-for': address } });
    const [home, office] = [await open(HOME), await open(OFFICE)];
    for (const reader of [home, office]) await reader.until(({ messages }) => messages.length > 0);
    await restrict('203.0.113.0/24');
    const name = `seen ${(count += 1)}`.replace(' ', '-');
    await makeWorkspace(server, 'acme', name);
    await office.until(({ messages }) => messages.some(({ data }) => data?.resource?.type === 'workspaces'));
    expect(await home.endReason()).toBe('access');
    expect(home.messages.some(({ data }) => data?.resource?.type === 'workspaces')).toBe(false);
    office.close();
    const refused = await StreamReader.request(server, 'acme', olga.token, { headers: { 'x-forwarded-for': HOME } });
    expect(refused.statusCode).toBe(403);
    refused.destroy();
  });

  it('lets two owners at two addresses remove only one of their ranges at the same time', async () => {
    const otto = await makeMember(server, 'acme', 'otto', [acme.ownersTeam]);
    const list = await restrict(HOME);
    const ranges = `${list}/relationships/cidr-ranges`;
    const office = await server.post(ranges, resource('cidr-ranges', { range: OFFICE }));
    const { links } = expectStatus(office, 201).body.data;
    const [home] = expectStatus(await server.get(ranges), 200).body.data;
    runBetween(server.store, async () => {
      expectStatus(await at(OFFICE, otto.token).delete(home.links.self), 204);
    });
    expectStatus(await at(HOME, olga.token).delete(links.self), 403);
    expect(expectStatus(await server.get(ranges), 200).body.data.map(({ id }: any) => id)).toEqual([
      office.body.data.id,
    ]);
  });
});

describe('an IP allowlist for agents', () => {
  const agentPath = (pool: string): string => `/api/v2/agent-pools/${pool}/agents`;

  it('restricts agents, and neither people nor agents of other pools', async () => {
    const [edge, core] = [await makeRemotePool(server, 'acme', 'edge'), await makeRemotePool(server, 'acme', 'core')];
    const [edgeToken, coreToken] = [await makeAgentToken(server, edge), await makeAgentToken(server, core)];
    await restrict('203.0.113.0/24', 'selected_agent_pools', [edge]);
    const register = (address: string, token: string, pool: string) => at(address, token).post(agentPath(pool));
    expect(detailOf(expectStatus(await register(HOME, edgeToken, edge), 403))).toMatch(REFUSED);
    expectStatus(await register(OFFICE, edgeToken, edge), 201);
    expectStatus(await register(HOME, coreToken, core), 201);
    expectStatus(await at(HOME, olga.token).get(`/api/v2/workspaces/${workspace}`), 200);
    await restrict('192.0.2.0/24', 'all_agent_pools');
    expectStatus(await register(HOME, coreToken, core), 403);
    for (const address of ['192.0.2.1', OFFICE]) expectStatus(await register(address, edgeToken, edge), 201);
    expectStatus(await register('192.0.2.1', coreToken, core), 201);
    expectStatus(await register(OFFICE, coreToken, core), 403);
  });

  it('restricts the tokens of the runs that the agents execute, which lists for people do not', async () => {
    const pool = await makeRemotePool(server, 'acme', 'runners');
    const agent = await makeAgentToken(server, pool);
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace, { 'plan-only': true });
    const token = await makeToken(server.as(agent), `/api/v2/runs/${run}/authentication-tokens`);
    await restrict('203.0.113.0/24');
    expectStatus(await at(HOME, token).get(`/api/v2/workspaces/${workspace}`), 200);
    await restrict('203.0.113.0/24', 'selected_agent_pools', [pool]);
    expectStatus(await at(HOME, token).get(`/api/v2/workspaces/${workspace}`), 403);
    expectStatus(await at(OFFICE, token).get(`/api/v2/workspaces/${workspace}`), 200);
  });
});

describe('a signed link', () => {
  it('of a state is refused at an address that its creator may not use', async () => {
    const own = await makeWorkspace(server, 'acme', `state-${(count += 1)}`);
    const api = at(OFFICE, olga.token);
    expectStatus(await api.post(`/api/v2/workspaces/${own}/actions/lock`), 200);
    const state = stateFile({});
    const created = await api.post(
      `/api/v2/workspaces/${own}/state-versions`,
      newStateVersion(state, { inline: false }),
    );
    const link = pathOf(expectStatus(created, 201).body.data.attributes['hosted-state-upload-url']);
    await restrict('203.0.113.0/24');
    const length = await logLength(server.store);
    expect(detailOf(expectStatus(await at(HOME, null).put(link, state.bytes), 403))).toMatch(REFUSED);
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await at(OFFICE, null).put(link, state.bytes), 200);
  });

  it('of a configuration is refused for uploads and downloads', async () => {
    const api = at(OFFICE, olga.token);
    const body = resource('configuration-versions', { 'auto-queue-runs': false });
    const created = await api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, body);
    const { id, attributes } = expectStatus(created, 201).body.data;
    await restrict('203.0.113.0/24');
    const archive = gzipSync('main.tf');
    expectStatus(await at(HOME, null).put(pathOf(attributes['upload-url']), archive), 403);
    expectStatus(await at(OFFICE, null).put(pathOf(attributes['upload-url']), archive), 200);
    const download = await api.get(`/api/v2/configuration-versions/${id}/download`);
    const location = pathOf(expectStatus(download, 302).headers.get('location') ?? '');
    expectStatus(await at(HOME, null).get(location), 403);
    expectStatus(await at(OFFICE, null).get(location), 200);
  });

  it('of a provider is refused for people, and admits the agents that lists for people do not restrict', async () => {
    const signer = await makeSigner();
    expectStatus(await addKey(server, 'acme', signer), 201);
    await makeProvider(server, 'acme', 'aws');
    await publishVersion(server, 'acme', 'aws', '1.0.0', signer);
    const pool = await makeRemotePool(server, 'acme', 'installers');
    const agent = await makeAgentToken(server, pool);
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace, { 'plan-only': true });
    const runToken = await makeToken(server.as(agent), `/api/v2/runs/${run}/authentication-tokens`);
    await restrict('203.0.113.0/24');
    const path = '/api/registry/v1/providers/acme/aws/1.0.0/download/linux/amd64';
    const linksOf = async (api: ApiTestClient): Promise<readonly string[]> => {
      const { download_url, shasums_url, shasums_signature_url } = expectStatus(await api.get(path), 200).body;
      return [download_url, shasums_url, shasums_signature_url].map(pathOf);
    };
    expectStatus(await at(HOME, olga.token).get(path), 403);
    for (const link of await linksOf(at(OFFICE, olga.token))) {
      expectStatus(await at(HOME, null).get(link), 403);
      expectStatus(await at(OFFICE, null).get(link), 200);
    }
    for (const link of await linksOf(at(HOME, runToken))) expectStatus(await at(HOME, null).get(link), 200);
    const { links } = await makeVersion(at(OFFICE, olga.token), 'acme', 'aws', '2.0.0', signer.keyId);
    const upload = pathOf(links['shasums-upload']);
    expectStatus(await at(HOME, null).put(upload, Buffer.from('x')), 403);
  });
});

describe('an operator', () => {
  it('removes the list that restricts the organization, and no list for agents', async () => {
    const { store, runtime } = server;
    const agents = await restrict('203.0.113.0/24', 'all_agent_pools');
    const list = await restrict('203.0.113.0/24');
    const { name } = expectStatus(await server.get(list), 200).body.data.attributes;
    const api = at(HOME, olga.token);
    expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 403);
    expect(await removeIpAllowlist(store, runtime.ids, 'acme')).toBe(name);
    expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200);
    expectStatus(await server.get(list), 404);
    expectStatus(await server.get(agents), 200);
    expect(await removeIpAllowlist(store, runtime.ids, 'acme')).toBeNull();
    await expect(removeIpAllowlist(store, runtime.ids, 'nobody')).rejects.toThrow(
      'There is no organization with the name nobody',
    );
  });
});

describe('a member of a team without an owner', () => {
  it('is refused with the reason, and does not learn the ranges', async () => {
    const team = await makeTeam(server, 'acme', 'readers');
    const mia = await makeMember(server, 'acme', 'mia', [team]);
    await restrict('203.0.113.0/24');
    const text = detailOf(expectStatus(await at(HOME, mia.token).get('/api/v2/organizations/acme'), 403));
    expect(text).toMatch(REFUSED);
    expect(text).not.toContain('203.0.113');
  });
});

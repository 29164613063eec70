import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Vault } from '#storage/vault';
import { sql } from '#platform/kernel';
import {
  HOST_TOKEN,
  makeOauthClient,
  newOauthClient,
  REACHES_GIT_HOSTS,
  openTestGitHost,
  type GitHostAddress,
} from '../../../test/support/git-host.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  related,
  resource,
} from '../../../test/support/seeds.js';
import { listProblems } from '../../../test/support/responses.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { connectionsDefinition } from './index.js';

const CLIENTS = '/api/v2/organizations/acme/oauth-clients';
const PEM = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=\n-----END OPENSSH PRIVATE KEY-----\n';

let host: GitHostAddress;
let server: TestServer;
let vault: Vault;
let project: string;

beforeAll(async () => {
  host = await openTestGitHost();
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  vault = new Vault(server.database, server.runtime.encryptionKeys);
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  project = await makeProject(server, 'acme', 'land');
});

afterAll(() => server.close());

const byId = (id: string): string => `/api/v2/oauth-clients/${id}`;
const tokenById = (id: string): string => `/api/v2/oauth-tokens/${id}`;
const create = (attributes: object = {}) => server.post(CLIENTS, newOauthClient(host, attributes));

describe('an OAuth client', () => {
  it('is created with the account that the Git host confirms, and with one token', async () => {
    const { data } = expectStatus(await create({ name: 'Git of Acme' }), 201).body;
    expect(data).toMatchObject({
      type: 'oauth-clients',
      attributes: {
        name: 'Git of Acme',
        'service-provider': 'gitea',
        'service-provider-display-name': 'Gitea',
        'http-url': host.url,
        'api-url': `${host.url}/api/v1`,
        'organization-scoped': true,
      },
    });
    const [{ id: token }] = data.relationships['oauth-tokens'].data;
    const listed = expectStatus(await server.get(`${byId(data.id)}/oauth-tokens`), 200).body.data;
    expect(listed).toMatchObject([
      { id: token, attributes: { 'service-provider-user': 'cadastre-bot', 'has-ssh-key': false } },
    ]);
    expect(await vault.open(token)).toBe(HOST_TOKEN);
    const { included } = expectStatus(await server.get(`${byId(data.id)}?include=oauth_tokens`), 200).body;
    expect(included).toEqual(listed);
  });

  it.each([
    ['a token that the host refuses', { 'oauth-token-string': 'wrong' }, 'oauth-token-string', /refused the token/],
    ['a blank token', { 'oauth-token-string': ' ' }, 'oauth-token-string', /can't be blank/],
    ['a token with a line break', { 'oauth-token-string': 'to\nken' }, 'oauth-token-string', /visible ASCII/],
    ['a token with an umlaut', { 'oauth-token-string': 'tökén' }, 'oauth-token-string', /visible ASCII/],
    ['an address without HTTPS', { 'api-url': 'http://git.example.com' }, 'api-url', /begins with https/],
    ['an address with a password', { 'http-url': 'https://a:b@git.example.com' }, 'http-url', /without user, password/],
    ['a private address', { 'api-url': 'http://127.0.0.2' }, 'api-url', /has a private address/],
    [
      'a host of another kind',
      { 'service-provider': 'bitbucket_hosted' },
      'service-provider',
      /Bitbucket Cloud cannot be connected/,
    ],
    ['an unknown kind', { 'service-provider': 'svn' }, 'service-provider', /accepted are github, .*, gitea, forgejo/],
    ['a token and an application', { key: 'a', secret: 'b' }, 'oauth-token-string', /or key and secret/],
    ['a public key', { 'rsa-public-key': 'a' }, 'rsa-public-key', /not supported/],
    ['a blank name', { name: ' ' }, 'name', /can't be blank/],
  ])('is refused with the attribute that is wrong, and changes nothing: %s', async (_, attributes, name, detail) => {
    const before = expectStatus(await server.get(CLIENTS), 200).body.meta.pagination['total-count'];
    const refused = expectStatus(await create(attributes), 422);
    expect(listProblems(refused)).toEqual([[`/data/attributes/${name}`, expect.stringMatching(detail)]]);
    expect(expectStatus(await server.get(CLIENTS), 200).body.meta.pagination['total-count']).toBe(before);
  });

  it('answers 422 that names the API URL if nothing answers there', async () => {
    const refused = expectStatus(await create({ 'api-url': 'http://127.0.0.1:9' }), 422);
    expect(listProblems(refused)).toEqual([
      ['/data/attributes/api-url', expect.stringMatching(/could not be reached/)],
    ]);
  });

  it('is limited to projects, which can be added and removed', async () => {
    const { client } = await makeOauthClient(server, 'acme', host);
    const path = `${byId(client)}/relationships/projects`;
    expectStatus(await server.post(path, related('projects', project)), 204);
    expectStatus(await server.patch(byId(client), resource('oauth-clients', { 'organization-scoped': false })), 200);
    const { data, included } = expectStatus(await server.get(`${byId(client)}?include=projects`), 200).body;
    expect(data.attributes['organization-scoped']).toBe(false);
    expect(data.relationships.projects.data).toEqual([{ type: 'projects', id: project }]);
    expect(included).toMatchObject([{ id: project }]);
    const refused = expectStatus(await server.post(path, related('projects', 'prj-unknown')), 422);
    expect(listProblems(refused)).toEqual([['/data/0/id', 'Project prj-unknown does not exist']]);
    expectStatus(await server.delete(path, related('projects', project)), 204);
    expect(expectStatus(await server.get(byId(client)), 200).body.data.relationships.projects.data).toEqual([]);
  });

  it('gets another text of its token after the host has confirmed it', async () => {
    const { client, token } = await makeOauthClient(server, 'acme', host);
    const change = (text: string) =>
      server.patch(byId(client), resource('oauth-clients', { 'oauth-token-string': text }));
    expectStatus(await change('wrong'), 422);
    expect(await vault.open(token)).toBe(HOST_TOKEN);
    // Spaces around it come from a clipboard.
    const { data } = expectStatus(await change(` ${HOST_TOKEN}\n`), 200).body;
    expect(await vault.open(token)).toBe(HOST_TOKEN);
    expect(data.relationships['oauth-tokens'].data).toEqual([{ type: 'oauth-tokens', id: token }]);
  });

  it('keeps its addresses, because another host would get the token', async () => {
    const { client } = await makeOauthClient(server, 'acme', host);
    const body = resource('oauth-clients', {
      'api-url': 'https://evil.example.com',
      'http-url': 'https://evil.example.com',
    });
    expectStatus(await server.patch(byId(client), body), 200);
    expect(expectStatus(await server.get(byId(client)), 200).body.data.attributes['api-url']).toBe(
      `${host.url}/api/v1`,
    );
  });

  describe('with the key of an OAuth application', () => {
    const make = (httpUrl: string, apiUrl: string) => {
      const application = { key: 'a', secret: 'b', 'oauth-token-string': null };
      return create({ 'service-provider': 'github', 'http-url': httpUrl, 'api-url': apiUrl, ...application });
    };

    it.each([
      ['https://github.com', 'https://evil.example.com'],
      ['https://github.com', 'https://api.github.com.evil.example.com'],
      ['https://github.com', 'https://api.github.com:8443'],
      ['https://git.example.com', 'https://api.github.com'],
      ['https://git.example.com', 'https://api.git.example.com'],
      ['https://git.example.com', 'https://git.example.com:8443/api/v3'],
      ['https://evilghe.com', 'https://api.evilghe.com'],
    ])('does not send tokens of %s to %s', async (httpUrl, apiUrl) => {
      expect(listProblems(expectStatus(await make(httpUrl, apiUrl), 422))).toEqual([
        ['/data/attributes/api-url', expect.stringMatching(/^Api url must be an address of https:/)],
      ]);
    });

    it.each([
      ['https://github.com', 'https://api.github.com'],
      ['https://acme.ghe.com', 'https://api.acme.ghe.com'],
      ['https://git.example.com', 'https://git.example.com/api/v3'],
      ['https://git.example.com:8443/gitlab', 'https://git.example.com:8443/gitlab/api/v4'],
    ])('sends tokens of %s to %s', async (httpUrl, apiUrl) => {
      expectStatus(await make(httpUrl, apiUrl), 201);
    });

    it('gets no other application while its API has another server', async () => {
      const { id } = expectStatus(await make('https://github.com', 'https://api.github.com'), 201).body.data;
      await server.database.rows(sql`update oauth_clients set api_url = 'https://evil.example.com' where id = ${id}`);
      const refused = await server.patch(byId(id), resource('oauth-clients', { key: 'c', secret: 'd' }));
      expect(listProblems(expectStatus(refused, 422))).toEqual([['/data/attributes/api-url', expect.anything()]]);
      // The views are compared with the log.
      expectStatus(await server.delete(byId(id)), 204);
    });
  });

  it('loses its secrets when it is deleted', async () => {
    const { client, token } = await makeOauthClient(server, 'acme', host);
    expectStatus(await server.patch(tokenById(token), resource('oauth-tokens', { 'ssh-key': PEM })), 200);
    expect(await vault.open(`${token}-ssh-key`)).toBe(PEM);
    expectStatus(await server.delete(byId(client)), 204);
    expect([await vault.open(token), await vault.open(`${token}-ssh-key`)]).toEqual([undefined, undefined]);
    expectStatus(await server.get(byId(client)), 404);
    expectStatus(await server.get(tokenById(token)), 404);
  });

  it('never appears in an event with its secrets', async () => {
    await makeOauthClient(server, 'acme', host);
    const events = await server.database.rows<{ text: string }>(
      sql`select data::text as text from event_store.events where data::text like ${`%${HOST_TOKEN}%`}`,
    );
    expect(events).toEqual([]);
  });
});

describe('an OAuth token', () => {
  it('stores an SSH key, and answers 200 to a change without attributes', async () => {
    const { token } = await makeOauthClient(server, 'acme', host);
    expectStatus(await server.patch(tokenById(token), resource('oauth-tokens', {})), 200);
    const stored = await server.patch(tokenById(token), resource('oauth-tokens', { 'ssh-key': PEM }));
    expect(expectStatus(stored, 200).body.data.attributes['has-ssh-key']).toBe(true);
    const refused = await server.patch(tokenById(token), resource('oauth-tokens', { 'ssh-key': 'ssh-rsa AAAA' }));
    expect(listProblems(expectStatus(refused, 422))).toEqual([
      ['/data/attributes/ssh-key', expect.stringMatching(/^Ssh key is invalid/)],
    ]);
  });

  it('can be deleted, and its client gets another one', async () => {
    const { client, token } = await makeOauthClient(server, 'acme', host);
    expectStatus(await server.delete(tokenById(token)), 204);
    expect(expectStatus(await server.get(`${byId(client)}/oauth-tokens`), 200).body.data).toEqual([]);
    const body = resource('oauth-clients', { 'oauth-token-string': HOST_TOKEN });
    const [next] = expectStatus(await server.patch(byId(client), body), 200).body.data.relationships['oauth-tokens']
      .data;
    expect(next.id).not.toBe(token);
    expect(await vault.open(next.id)).toBe(HOST_TOKEN);
  });

  it('reads repositories, the existence of one, and the folders of a branch', async () => {
    const { token } = await makeOauthClient(server, 'acme', host);
    const repositories = expectStatus(await server.get(`${tokenById(token)}/authorized-repos?q=net`), 200).body;
    expect(repositories.data).toEqual([
      {
        id: 'acme/network',
        type: 'authorized-repos',
        attributes: { name: 'network', 'display-identifier': 'acme/network' },
      },
    ]);
    const vcs = '/api/v2/organizations/acme/vcs';
    const query = `oauth_token_id=${token}&identifier=`;
    const check = async (identifier: string) =>
      expectStatus(await server.get(`${vcs}/repo?${query}${encodeURIComponent(identifier)}`), 200).body.data.attributes;
    expect(await check('acme/network')).toEqual({ exists: true, identifier: 'acme/network' });
    expect((await check('acme/other')).exists).toBe(false);
    // No path of another resource of the host.
    expect((await check('../user')).exists).toBe(false);
    const tree = expectStatus(await server.get(`${vcs}/tree?${query}acme/network`), 200).body.data;
    expect(tree).toMatchObject({ type: 'vcs-tree', attributes: { folders: ['modules'] } });
    expectStatus(await server.get(`${vcs}/tree?${query}acme/network&branch=none`), 404);
    expectStatus(await server.get(`/api/v2/organizations/neighbour/vcs/repo?${query}acme/network`), 404);
  });
});

describe('callers', () => {
  let reader: ApiTestClient;

  beforeAll(async () => {
    const team = await makeTeam(server, 'acme', 'workers', { 'organization-access': { 'manage-workspaces': true } });
    reader = await makeMember(server, 'acme', 'worker', [team]);
  });

  it('that manage workspaces read connections and cannot change them', async () => {
    const { client, token } = await makeOauthClient(server, 'acme', host);
    expectStatus(await reader.get(byId(client)), 200);
    expectStatus(await reader.get(`${tokenById(token)}/authorized-repos`), 200);
    expectStatus(await reader.delete(byId(client)), 404);
    expectStatus(await reader.post(CLIENTS, newOauthClient(host)), 404);
  });
});

describe('the views', () => {
  it('equal the views that are computed from the log', async () => {
    await expectViewsMatchLog(server, [connectionsDefinition]);
  });
});

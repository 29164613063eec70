import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TokenAccess } from '#api/access';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { countHits } from '../../../../test/support/kept-documents.js';
import { StreamReader } from '../../../../test/support/live-streams.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  grantWorkspaceAccess,
  refusalOf,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { peopleDefinition } from '../people.module.js';

let server: TestServer;
let acme: SeededOrganization;
let rival: SeededOrganization;
let workspace: string;
/** Owns both organizations. */
let ada: SeededMember;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  acme = await makeOrganization(server, 'acme');
  rival = await makeOrganization(server, 'rival');
  workspace = await makeWorkspace(server, 'acme', 'hello');
  await makeWorkspace(server, 'rival', 'secret');
  ada = await makeMember(server, 'acme', 'ada', [acme.ownersTeam]);
  const address = resource(
    'organization-memberships',
    { email: ada.email },
    {
      teams: { data: [{ type: 'teams', id: rival.ownersTeam }] },
    },
  );
  const invited = expectStatus(await server.post('/api/v2/organizations/rival/organization-memberships', address), 201);
  expectStatus(await ada.post(`/api/v2/organization-memberships/${invited.body.data.id}/actions/accept`), 200);
});

afterAll(() => server.close());

type Restriction = { readonly access?: TokenAccess; readonly organization?: string | null };

const tokenBody = ({ access, organization }: Restriction): object =>
  resource(
    'authentication-tokens',
    { description: 'restricted', ...(access === undefined ? {} : { access }) },
    organization === undefined
      ? undefined
      : { organization: { data: organization === null ? null : { type: 'organizations', id: organization } } },
  );

const create = (restriction: Restriction, owner: ApiTestClient & { readonly id: string } = ada): Promise<ApiResponse> =>
  owner.post(`/api/v2/users/${owner.id}/authentication-tokens`, tokenBody(restriction));

type IssuedClient = ApiTestClient & { readonly id: string; readonly secret: string };

const issue = async (
  restriction: Restriction,
  owner?: ApiTestClient & { readonly id: string },
): Promise<IssuedClient> => {
  const { id, attributes } = expectStatus(await create(restriction, owner), 201).body.data;
  return { ...server.as(attributes.token), id, secret: attributes.token };
};

const BETA = { data: { type: 'organizations', id: 'beta' } };
const ATTRIBUTES = 'description, expired-at, access';

const siteAdmin = async (): Promise<ApiTestClient & { readonly id: string }> => ({
  ...server,
  id: (await server.get('/api/v2/account/details')).body.data.id as string,
});

const namesIn = ({ body }: ApiResponse): string[] => body.data.map((one: any) => one.attributes.name as string);

const expectRestriction = (answer: ApiResponse, restriction: string, detail: RegExp): void => {
  const [problem] = expectStatus(answer, 403).body.errors;
  expect(problem).toMatchObject({ meta: { restriction }, detail: expect.stringMatching(detail) });
};

describe('the restriction of a token', () => {
  it('is absent by default', async () => {
    for (const restriction of [{}, { access: 'full', organization: null }] as const) {
      const { data } = expectStatus(await create(restriction), 201).body;
      expect(data).toMatchObject({ attributes: { access: 'full' }, relationships: { organization: { data: null } } });
    }
  });

  it('is shown by the document and the list of the tokens of its owner', async () => {
    const { id } = await issue({ access: 'read-only', organization: 'ACME' });
    const expected = {
      id,
      attributes: { access: 'read-only' },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } } },
    };
    expect((await ada.get(`/api/v2/authentication-tokens/${id}`)).body.data).toMatchObject(expected);
    const list = (await ada.get(`/api/v2/users/${ada.id}/authentication-tokens`)).body.data as object[];
    expect(list).toContainEqual(expect.objectContaining({ id }));
    expect(list[0]).toMatchObject(expected);
  });

  it('is shown by no other token, because other tokens cannot be restricted', async () => {
    const paths = [
      `/api/v2/teams/${acme.ownersTeam}/authentication-tokens`,
      `/api/v2/teams/${acme.ownersTeam}/authentication-token`,
      '/api/v2/organizations/acme/authentication-token',
    ];
    for (const path of paths) {
      const { data } = expectStatus(await ada.post(path, tokenBody({})), 201).body;
      expect([data.attributes, data.relationships]).toEqual([
        expect.not.objectContaining({ access: expect.anything() }),
        expect.not.objectContaining({ organization: expect.anything() }),
      ]);
      for (const [restriction, pointer] of [
        [{ access: 'read-only' }, '/data/attributes/access'],
        [{ organization: 'acme' }, '/data/relationships/organization'],
      ] as const) {
        const refused = expectStatus(await ada.post(path, tokenBody(restriction)), 422);
        const reason = expect.stringContaining('only tokens of users can be restricted');
        expect(refusalOf(refused)).toEqual([pointer, reason]);
      }
    }
  });

  it.each([
    [{ access: 'write' as TokenAccess }, '/data/attributes/access', /one of full, read-only, audit-only/],
    [{ access: null as unknown as TokenAccess }, '/data/attributes/access', /one of full, read-only, audit-only/],
    [{ organization: '' }, '/data/relationships/organization', /./],
    [{ organization: 'nowhere' }, '/data/relationships/organization', /no member of "nowhere"/],
  ])('is refused if it is %j', async (restriction, pointer, detail) => {
    const [at, problem] = refusalOf(expectStatus(await create(restriction), 422));
    expect([at.startsWith(pointer), detail.test(problem)]).toEqual([true, true]);
  });

  it.each([
    ['/access', 'data', { access: 'read-only' }],
    ['/relationships', 'data', { data: {}, relationships: { organization: BETA } }],
    ['/data/access', 'type, attributes, relationships', { data: { access: 'read-only', attributes: {} } }],
    ['/data/attributes/acces', ATTRIBUTES, { data: { attributes: { acces: 'read-only' } } }],
    ['/data/attributes/Access', ATTRIBUTES, { data: { attributes: { Access: 'read-only' } } }],
    ['/data/attributes/read-only', ATTRIBUTES, { data: { attributes: { 'read-only': true } } }],
    ['/data/attributes/organization', ATTRIBUTES, { data: { attributes: { organization: 'beta' } } }],
    ['/data/relationships/organizations', 'organization', { data: { relationships: { organizations: BETA } } }],
    [
      '/data/relationships/organization/id',
      'data',
      { data: { relationships: { organization: { ...BETA, id: 'x' } } } },
    ],
    [
      '/data/relationships/organization/data/name',
      'type, id',
      { data: { relationships: { organization: { data: { ...BETA.data, name: 'x' } } } } },
    ],
  ])('is refused at %s, with the accepted members', async (pointer, accepted, body) => {
    const answer = await ada.post(`/api/v2/users/${ada.id}/authentication-tokens`, body);
    expect(refusalOf(expectStatus(answer, 422))).toEqual([
      pointer,
      expect.stringMatching(new RegExp(`is not known here; accepted are ${accepted}$`)),
    ]);
  });

  it('is refused if its organization is a resource of another type', async () => {
    const body = { data: { relationships: { organization: { data: { type: 'teams', id: 'acme' } } } } };
    const answer = await ada.post(`/api/v2/users/${ada.id}/authentication-tokens`, body);
    expect(refusalOf(expectStatus(answer, 422))).toEqual([
      '/data/relationships/organization/data/type',
      'Type must be organizations',
    ]);
  });

  it('is accepted beside the members that JSON:API clients send', async () => {
    const attributes = { description: 'x', 'expired-at': null, access: 'read-only' };
    const body = { data: { type: 'authentication-tokens', id: '', attributes } };
    const answer = await ada.post(`/api/v2/users/${ada.id}/authentication-tokens`, body);
    expect(expectStatus(answer, 201).body.data.attributes.access).toBe('read-only');
  });

  it('is refused for an organization in which the owner of the token is no member, even if the owner is a site administrator', async () => {
    await makeOrganization(ada, 'adas');
    const [, detail] = refusalOf(expectStatus(await create({ organization: 'adas' }, await siteAdmin()), 422));
    expect(detail).toBe('The owner of the token must be a member of the organization, and is no member of "adas"');
  });

  it('is recorded in the audit trail of its organization only', async () => {
    const { id } = await issue({ access: 'read-only', organization: 'acme' });
    expectStatus(await ada.delete(`/api/v2/authentication-tokens/${id}`), 204);
    await waitForFollowers(server.store, 'audit_trail');
    const entriesOf = async (organization: string): Promise<object[]> => {
      const path = `/api/v2/organizations/${organization}/audit-trail?filter[resource-id]=${id}`;
      return expectStatus(await ada.get(path), 200).body.data.map(({ resource: entry }: any) => entry);
    };
    expect(await entriesOf('rival')).toEqual([]);
    expect(await entriesOf('acme')).toMatchObject([
      { action: 'destroy', meta: { user_id: ada.id } },
      { action: 'create', meta: { user_id: ada.id, access: 'read-only', organization_id: acme.id } },
    ]);
  });
});

describe('a read-only token', () => {
  it('reads what its owner may read', async () => {
    const reader = await issue({ access: 'read-only' });
    for (const path of [
      '/api/v2/account/details',
      `/api/v2/users/${ada.id}/authentication-tokens`,
      `/api/v2/users/${ada.id}/sessions`,
      '/api/v2/organization-memberships',
      `/api/v2/workspaces/${workspace}`,
      '/api/v2/organizations/rival/workspaces',
      '/api/v2/organizations/acme/audit-trail',
      '/api/v2/organizations/acme/token-ttl-policies',
    ]) {
      // The trail records the new token, and some of the reads.
      await waitForFollowers(server.store, 'audit_trail');
      const [own, restricted] = [await ada.get(path), await reader.get(path)];
      expect([path, restricted.status]).toEqual([path, 200]);
      expect(restricted.body.data.length).toBe(own.body.data.length);
    }
  });

  it('changes nothing, and the refusal names the restriction', async () => {
    const reader = await issue({ access: 'read-only' });
    const answer = await reader.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { name: 'renamed' }));
    expectRestriction(answer, 'read-only', /^This token is read-only, so it cannot change anything\./);
    expect((await ada.get(`/api/v2/workspaces/${workspace}`)).body.data.attributes.name).toBe('hello');
    expectRestriction(await create({}, { ...reader, id: ada.id }), 'read-only', /cannot change anything/);
  });

  it('sees in documents that it may change nothing, and gets no link for an upload', async () => {
    const reader = await issue({ access: 'read-only' });
    const { permissions } = (await reader.get(`/api/v2/workspaces/${workspace}`)).body.data.attributes;
    expect(permissions).toMatchObject({ 'can-lock': false, 'can-queue-run': false, 'can-read-settings': true });
    // This permission is also required to read, so it describes the owner.
    const organization = (await reader.get('/api/v2/organizations/acme')).body.data.attributes;
    expect(organization.permissions).toMatchObject({ 'can-update': true, 'can-destroy': false });
    expectStatus(await ada.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const body = newStateVersion(stateFile(), { inline: false });
    const created = expectStatus(await ada.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201);
    const path = `/api/v2/state-versions/${created.body.data.id}`;
    const upload = /\/upload\//;
    expect((await ada.get(path)).text).toMatch(upload);
    expect((await reader.get(path)).text).not.toMatch(upload);
  });

  it('sees in the account of its owner that it cannot create organizations', async () => {
    const read = async (api: ApiTestClient): Promise<boolean> =>
      expectStatus(await api.get('/api/v2/account/details'), 200).body.data.attributes.permissions[
        'can-create-organizations'
      ];
    expect([await read(ada), await read(await issue({ access: 'read-only' }))]).toEqual([true, false]);
  });

  it('gets no document that is kept for an unrestricted token of the same owner, and the reverse', async () => {
    const reader = await issue({ access: 'read-only' });
    const path = `/api/v2/workspaces/${workspace}`;
    const mayLock = async (api: ApiTestClient): Promise<boolean> =>
      expectStatus(await api.get(path), 200).body.data.attributes.permissions['can-lock'];
    for (const api of [ada, reader]) for (let n = 0; n < 2; n += 1) await mayLock(api);
    const hits = await countHits(async () => {
      expect([await mayLock(ada), await mayLock(reader), await mayLock(ada)]).toEqual([true, false, true]);
    });
    expect(hits).toBe(3);
  });

  it('can revoke itself at /oauth/revoke, as programs do when they log out', async () => {
    for (const restriction of [{ access: 'read-only' }, { access: 'audit-only' }, { organization: 'acme' }] as const) {
      const { secret } = await issue(restriction);
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams({ token: secret });
      const revoked = await fetch(`${server.url}/oauth/revoke`, { method: 'POST', headers: form, body });
      expect(revoked.status).toBe(200);
      expectStatus(await server.as(secret).get('/api/v2/organizations/acme/audit-trail'), 401);
    }
  });
});

describe('a token for one organization', () => {
  it('has the access of its owner in the organization', async () => {
    const holder = await issue({ organization: 'acme' });
    const body = resource('workspaces', { description: 'changed' });
    expectStatus(await holder.patch(`/api/v2/workspaces/${workspace}`, body), 200);
    expectStatus(await holder.get('/api/v2/account/details'), 200);
  });

  it('finds nothing of other organizations', async () => {
    const holder = await issue({ organization: 'acme' });
    expect(namesIn(await holder.get('/api/v2/organizations'))).toEqual(['acme']);
    const memberships = expectStatus(await holder.get('/api/v2/organization-memberships'), 200).body;
    expect(memberships.data.map((one: any) => one.relationships.organization.data.id)).toEqual(['acme']);
    expect(memberships.meta.pagination['total-count']).toBe(1);
    const others = expectStatus(await ada.get('/api/v2/organization-memberships'), 200).body.data;
    const { id } = others.find((one: any) => one.relationships.organization.data.id === 'rival');
    for (const path of [
      '/api/v2/organizations/rival',
      '/api/v2/organizations/rival/workspaces',
      '/api/v2/organizations/rival/workspaces/secret',
      '/api/v2/organizations/rival/audit-trail',
      `/api/v2/teams/${rival.ownersTeam}`,
      `/api/v2/organization-memberships/${id}`,
    ])
      expect([path, (await holder.get(path)).status]).toEqual([path, 404]);
    expectStatus(await holder.delete(`/api/v2/organization-memberships/${id}`), 404);
    expectStatus(await holder.post(`/api/v2/teams/${rival.ownersTeam}/relationships/users`, { data: [] }), 404);
  });

  it('counts only grants of teams of the organization', async () => {
    const outside = await makeWorkspace(server, 'rival', 'granted');
    const team = await makeTeam(server, 'rival', 'guests');
    const guest = await makeMember(server, 'rival', 'guest', [team]);
    await grantWorkspaceAccess(server, team, outside, 'read');
    expectStatus(await guest.get(`/api/v2/workspaces/${outside}`), 200);
    const body = resource('organization-memberships', { email: guest.email });
    const invited = expectStatus(await server.post('/api/v2/organizations/acme/organization-memberships', body), 201);
    expectStatus(await guest.post(`/api/v2/organization-memberships/${invited.body.data.id}/actions/accept`), 200);
    const holder = await issue({ organization: 'acme' }, guest);
    expectStatus(await holder.get(`/api/v2/workspaces/${outside}`), 404);
  });

  it('changes nothing outside the organization, and the refusal names the restriction', async () => {
    const holder = await issue({ organization: 'acme' });
    const renamed = resource('users', { username: 'eve' });
    const { permissions } = (await holder.get('/api/v2/account/details')).body.data.attributes;
    expect(permissions).toMatchObject({ 'can-create-organizations': false, 'can-change-email': false });
    const founded = resource('organizations', { name: 'third', email: 'ops@third.test' });
    const answers = [
      await holder.patch('/api/v2/account/update', renamed),
      await holder.post('/api/v2/organizations', founded),
      await holder.get(`/api/v2/users/${ada.id}/authentication-tokens`),
      await holder.delete(`/api/v2/users/${ada.id}/sessions`),
      await holder.delete(`/api/v2/authentication-tokens/${holder.id}`),
    ];
    for (const answer of answers) {
      expectRestriction(answer, 'one-organization', /^This token has access to one organization only, so it does not/);
    }
    for (const path of [`teams/${acme.ownersTeam}/authentication-tokens`, 'organizations/acme/authentication-token']) {
      const answer = await holder.post(`/api/v2/${path}`, resource('authentication-tokens', { description: 'more' }));
      expectRestriction(answer, 'one-organization', /cannot create tokens or other credentials/);
    }
  });

  it('has no power of a site administrator', async () => {
    const admin = await siteAdmin();
    const holder = await issue({ organization: 'acme' }, admin);
    expectStatus(await holder.get('/api/v2/organizations/acme/workspaces'), 200);
    expect(namesIn(await holder.get('/api/v2/organizations'))).toEqual(['acme']);
    for (const path of ['organizations/rival', 'admin/organizations', 'admin/audit-trail', `users/${ada.id}/sessions`])
      expect([path, (await holder.get(`/api/v2/${path}`)).status]).toEqual([path, 404]);
  });
});

describe('a token for audit trails only', () => {
  it('reads the trails that its owner may read, and nothing else', async () => {
    const auditor = await issue({ access: 'audit-only' });
    for (const organization of ['acme', 'rival']) {
      const trail = `/api/v2/organizations/${organization}/audit-trail`;
      const { data } = expectStatus(await auditor.get(trail), 200).body;
      expectStatus(await auditor.get(`${trail}/${data[0].id}`), 200);
    }
    const answer = await auditor.get(`/api/v2/workspaces/${workspace}`);
    expectRestriction(answer, 'audit-only', /^This token can only read audit trails, so it cannot do anything else\./);
    const stream = await StreamReader.request(server, 'acme', auditor.secret);
    stream.resume();
    expect(stream.statusCode).toBe(403);
  });

  it('finds the trail of one organization only, if it is restricted to the organization', async () => {
    const auditor = await issue({ access: 'audit-only', organization: 'acme' }, await siteAdmin());
    const statuses = [];
    for (const path of ['organizations/acme', 'organizations/rival', 'admin'])
      statuses.push((await auditor.get(`/api/v2/${path}/audit-trail`)).status);
    expect(statuses).toEqual([200, 404, 404]);
    expectRestriction(await auditor.get('/api/v2/account/details'), 'audit-only', /can only read audit trails/);
  });

  it('reads the trail of the site if its owner is a site administrator', async () => {
    expectStatus(
      await (await issue({ access: 'audit-only' }, await siteAdmin())).get('/api/v2/admin/audit-trail'),
      200,
    );
    expectStatus(await (await issue({ access: 'audit-only' })).get('/api/v2/admin/audit-trail'), 404);
  });

  it('reads no trail that its owner may not read', async () => {
    const member = await makeMember(server, 'acme', 'member');
    const auditor = await issue({ access: 'audit-only' }, member);
    expectStatus(await auditor.get('/api/v2/organizations/acme/audit-trail'), 404);
  });
});

describe('a live stream', () => {
  it('is open to read-only tokens, and closed to tokens for another organization', async () => {
    const reader = await issue({ access: 'read-only', organization: 'acme' });
    const stream = await StreamReader.open(server, 'acme', reader.secret);
    stream.body.destroy();
    const refused = await StreamReader.request(server, 'rival', reader.secret);
    refused.resume();
    expect(refused.statusCode).toBe(404);
  });
});

describe('the view of tokens', () => {
  it('equals a view that is computed from the whole log', () => expectViewsMatchLog(server, [peopleDefinition]));
});

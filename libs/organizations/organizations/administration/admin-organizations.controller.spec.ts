import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
  refusalOf,
  resource,
} from '../../../../test/support/seeds.js';
import { ensureUser, issueUserToken } from '#identity/people';
import { logLength, readWholeLog } from '../../../../test/support/event-log.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

const PATH = '/api/v2/admin/organizations';

let server: TestServer;
let acme: { readonly id: string; readonly ownersTeam: string };
/** The id of the site administrator, who owns the organizations of this file. */
let admin: string;

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'Acme');
  await makeOrganization(server, 'rival');
  admin = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.id as string;
});
afterAll(() => server.close());

const update = (attributes: object) => server.patch(`${PATH}/acme`, resource('organizations', attributes));

describe('an organization, for site administrators', () => {
  it('has the attributes of Terraform Enterprise, and is found regardless of case', async () => {
    const { body } = expectStatus(await server.get(`${PATH}/aCME`), 200);
    expect(body.data).toEqual({
      id: 'Acme',
      type: 'organizations',
      attributes: {
        name: 'Acme',
        'external-id': acme.id,
        'notification-email': 'ops@Acme.test',
        'access-beta-tools': false,
        'global-module-sharing': false,
        'global-provider-sharing': false,
        'is-disabled': false,
        'sso-enabled': false,
        'workspace-limit': null,
        'plan-timeout': null,
        'apply-timeout': null,
        'terraform-build-worker-plan-timeout': null,
        'terraform-build-worker-apply-timeout': null,
        'terraform-worker-sudo-enabled': false,
      },
      relationships: {
        owners: { data: [{ id: admin, type: 'users' }] },
        subscription: {
          data: { id: acme.id.replace('org-', 'sub-'), type: 'subscriptions' },
          links: { related: '/api/v2/organizations/Acme/subscription' },
        },
        'feature-set': { data: { id: 'fs-everything', type: 'feature-sets' } },
        'module-consumers': { links: { related: `${PATH}/Acme/relationships/module-consumers` } },
      },
      links: { self: `${PATH}/Acme` },
    });
    expectStatus(await server.get(`${PATH}/nobody`), 404);
    expectStatus(await server.patch(`${PATH}/nobody`, resource('organizations')), 404);
  });

  it('keeps access to beta tools, as the tests of Terraform send it', async () => {
    const sent = { data: { type: '', attributes: { 'access-beta-tools': true } } };
    const changed = expectStatus(await server.patch(`${PATH}/acme`, sent), 200).body;
    expect(changed.data.attributes['access-beta-tools']).toBe(true);
    expect(expectStatus(await server.get(`${PATH}/acme`), 200).body).toEqual(changed);
    const length = await logLength(server.store);
    expectStatus(await server.patch(`${PATH}/acme`, sent), 200);
    expectStatus(await server.patch(`${PATH}/acme`, { data: {} }), 200);
    expect(await logLength(server.store)).toBe(length);
    const attributes = expectStatus(await server.get('/api/v2/organizations/acme'), 200).body.data.attributes;
    expect(attributes).not.toHaveProperty('access-beta-tools');
  });

  it('keeps access to beta tools if an owner sends it', async () => {
    expectStatus(await update({ 'access-beta-tools': true }), 200);
    const owner = server.as(await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`));
    const sent = resource('organizations', { 'access-beta-tools': false });
    expectStatus(await owner.patch('/api/v2/organizations/acme', sent), 200);
    const { attributes } = expectStatus(await server.get(`${PATH}/acme`), 200).body.data;
    expect(attributes['access-beta-tools']).toBe(true);
  });

  it('shares `global-module-sharing` with the settings of the organization', async () => {
    expect(expectStatus(await update({ 'global-module-sharing': true }), 200).body.data.attributes).toMatchObject({
      'global-module-sharing': true,
    });
    const settings = expectStatus(await server.get('/api/v2/organizations/acme'), 200).body.data.attributes;
    expect(settings['global-module-sharing']).toBe(true);
  });

  it.each([
    ['is-disabled', true, 'Is disabled is not supported: organizations cannot be disabled; users can be suspended'],
    ['workspace-limit', 5, 'Workspace limit is not supported: organizations can have any number of workspaces'],
  ])('refuses a value of %s that would have an effect', async (name, value, detail) => {
    const before = await logLength(server.store);
    const refusal = refusalOf(await update({ [name]: value, 'access-beta-tools': false }));
    expect(refusal).toEqual([`/data/attributes/${name}`, detail]);
    expect(await logLength(server.store)).toBe(before);
    expectStatus(await update({ [name]: null }), 200);
  });

  it('has time limits of its own, which owners do not see', async () => {
    const times = { 'plan-timeout': '90m', 'terraform-build-worker-apply-timeout': '12h' };
    const { attributes } = expectStatus(await update(times), 200).body.data;
    expect(attributes).toMatchObject({
      'plan-timeout': '90m',
      'apply-timeout': '12h',
      'terraform-build-worker-plan-timeout': '90m',
      'terraform-build-worker-apply-timeout': '12h',
    });
    const organization = expectStatus(await server.get('/api/v2/organizations/acme'), 200).body.data.attributes;
    expect(Object.keys(organization).filter((name) => name.includes('timeout'))).toEqual(['session-timeout']);
    const [pointer, detail] = refusalOf(await update({ 'plan-timeout': '25h' }));
    expect([pointer, detail]).toEqual([
      '/data/attributes/plan-timeout',
      'Plan timeout must be a time from 1m to 24h, such as 90m or 1h30m',
    ]);
    const cleared = expectStatus(await update({ 'plan-timeout': null, 'apply-timeout': null }), 200).body.data;
    expect(cleared.attributes).toMatchObject({ 'plan-timeout': null, 'apply-timeout': null });
  });

  it.each([[null], ['yes'], [1]])('refuses %j as access to beta tools', async (value) => {
    const [pointer] = refusalOf(await update({ 'access-beta-tools': value }));
    expect(pointer).toBe('/data/attributes/access-beta-tools');
  });

  it('shares its modules with no organization, because the registry has none', async () => {
    const consumers = `${PATH}/acme/relationships/module-consumers`;
    const list = async () => expectStatus(await server.get(consumers), 200).body;
    expect(await list()).toMatchObject({ data: [], meta: { pagination: { 'total-count': 0 } } });
    // The provider of Terraform sends an empty list.
    expectStatus(await server.patch(consumers, { data: [] }), 204);
    const refused = await server.patch(consumers, { data: [{ type: 'organizations', id: 'rival' }] });
    expect(refusalOf(refused)).toEqual(['/data', 'Module consumers are not supported: the registry has no modules']);
    expect((await list()).data).toEqual([]);
    const unknown = `${PATH}/nobody/relationships/module-consumers`;
    expectStatus(await server.get(unknown), 404);
    expectStatus(await server.patch(unknown, { data: [] }), 404);
  });

  it('shows whether people must sign in with an identity provider', async () => {
    const name = 'single-sign-on';
    await makeOrganization(server, name);
    const policy = resource('organizations', { 'collaborator-auth-policy': 'sso_mandatory' });
    expectStatus(await server.patch(`/api/v2/organizations/${name}`, policy), 200);
    const { attributes } = expectStatus(await server.get(`${PATH}/${name}`), 200).body.data;
    expect(attributes['sso-enabled']).toBe(true);
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
  });

  it('is listed with its owners, in pages, and found by text in name or address', async () => {
    const names = async (query: string): Promise<string[]> =>
      expectStatus(await server.get(`${PATH}?${query}`), 200).body.data.map(({ id }: any) => id as string);
    expect(await names('')).toEqual(['Acme', 'rival']);
    expect(await names('page[size]=1&page[number]=2')).toEqual(['rival']);
    expect(await names('q=CM')).toEqual(['Acme']);
    expect(await names('q=none')).toEqual([]);
    const { body } = expectStatus(await server.get(`${PATH}?q=acme&include=owners`), 200);
    expect(body.data[0]).toEqual(expectStatus(await server.get(`${PATH}/acme`), 200).body.data);
    expect(body.included).toEqual([expect.objectContaining({ id: admin, type: 'users' })]);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 1 });
    expectStatus(await server.get(`${PATH}?include=workspaces`), 400);
  });

  it('is deleted with what is in it, although the administrator is no owner', async () => {
    const name = 'abandoned';
    const { ownersTeam } = await makeOrganization(server, name);
    const owner = await makeMember(server, name, 'olga', [ownersTeam]);
    const { id } = await ensureUser(server.store, server.runtime.ids, 'root', true);
    const other = server.as(await issueUserToken(server.store, server.runtime.ids, id, 'for a test'));
    expectStatus(await owner.delete(`${PATH}/${name}`), 404);
    expectStatus(await owner.get(`/api/v2/organizations/${name}`), 200);
    expectStatus(await other.delete(`${PATH}/Abandoned`), 204);
    expectStatus(await owner.get(`/api/v2/organizations/${name}`), 404);
    expectStatus(await other.get(`${PATH}/${name}`), 404);
    expectStatus(await other.delete(`${PATH}/${name}`), 404);
    const [event] = (await readWholeLog(server.store)).slice(-1);
    expect(event).toMatchObject({ type: 'OrganizationDeleted' });
  });

  it('is hidden from owners, members and tokens of the organization', async () => {
    const member = await makeMember(server, 'acme', 'mallory');
    const callers: readonly ApiTestClient[] = [
      server.as(await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`)),
      server.as(await makeOrganizationToken(server, 'acme')),
      member,
    ];
    for (const caller of callers) {
      expectStatus(await caller.get(PATH), 404);
      expectStatus(await caller.get(`${PATH}/acme`), 404);
      expectStatus(await caller.patch(`${PATH}/acme`, resource('organizations', { 'access-beta-tools': true })), 404);
    }
  });
});

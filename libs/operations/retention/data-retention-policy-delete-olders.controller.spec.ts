import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { waitForFollowers, logLength } from '../../../test/support/event-log.js';
import { runBetween } from '../../../test/support/interleaving.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededOrganization,
} from '../../../test/support/seeds.js';
import { listProblems } from '../../../test/support/responses.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { retentionDefinition } from '#organizations/data-retention-policies';
import { deleteOlders, dontDeletes } from './spec.js';
import { listStoredEntries } from '../../activity/audit-trail/spec.js';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  acme = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
});

afterAll(() => server.close());

let count = 0;
const newWorkspace = (organization = 'acme'): Promise<string> =>
  makeWorkspace(server, organization, `ws-${(count += 1)}`);

const newOrganization = async (): Promise<string> =>
  (await makeOrganization(server, `organization-${(count += 1)}`)).name;

const owner = (of: string): string =>
  of.startsWith('ws-') ? `/api/v2/workspaces/${of}` : `/api/v2/organizations/${of}`;
const policy = (of: string): string => `${owner(of)}/relationships/data-retention-policy`;

const relationOf = async (of: string): Promise<unknown> =>
  expectStatus(await server.get(owner(of)), 200).body.data.relationships['data-retention-policy'];

describe.each([
  ['a workspace', 'workspaces', () => newWorkspace()],
  ['an organization', 'organizations', () => newOrganization()],
] as const)('the policy of %s', (_, type, make) => {
  it('does not exist at first', async () => {
    const of = await make();
    expectStatus(await server.get(policy(of)), 404);
    expect(await relationOf(of)).toEqual({ data: null });
  });

  it.each(['post', 'patch'] as const)(
    'is created, changed and switched to the other type by %s, and keeps its id',
    async (write) => {
      const of = await make();
      const { body: created } = expectStatus(await server[write](policy(of), deleteOlders(30)), 200);
      const { id } = created.data;
      expect(created.data).toEqual({
        id: expect.stringMatching(/^drp-\w{16}$/),
        type: 'data-retention-policy-delete-olders',
        attributes: { 'delete-older-than-n-days': 30 },
        relationships: { target: { data: { type, id: of } } },
      });
      expect((await server.get(policy(of))).body).toEqual(created);
      expect(await relationOf(of)).toEqual({ data: { type: created.data.type, id } });
      const changed = expectStatus(await server[write](policy(of), deleteOlders(60)), 200).body.data;
      expect(changed).toEqual({ ...created.data, attributes: { 'delete-older-than-n-days': 60 } });
      const unlimited = expectStatus(await server[write](policy(of), dontDeletes), 200).body;
      expect(unlimited.data).toEqual({ ...created.data, type: 'data-retention-policy-dont-deletes', attributes: {} });
      expect((await server.get(policy(of))).body).toEqual(unlimited);
      expect(await relationOf(of)).toEqual({ data: { type: unlimited.data.type, id } });
      expect(expectStatus(await server[write](policy(of), deleteOlders(30)), 200).body).toEqual(created);
    },
  );

  it('has the older `type` of go-tfe in the response if the request used it', async () => {
    const of = await make();
    for (const write of ['post', 'patch'] as const) {
      const body = resource('data-retention-policies', { 'delete-older-than-n-days': 7 });
      const { data } = expectStatus(await server[write](policy(of), body), 200).body;
      expect(data).toMatchObject({
        type: 'data-retention-policies',
        attributes: { 'delete-older-than-n-days': 7 },
      });
      expect((await server.get(policy(of))).body.data).toEqual({
        ...data,
        type: 'data-retention-policy-delete-olders',
      });
    }
  });

  it.each([
    resource('data-retention-policy-delete-olders', { deleteOlderThanNDays: 7 }),
    resource('', { 'delete-older-than-n-days': 7 }),
    { data: { attributes: { 'delete-older-than-n-days': 7 } } },
  ])('is also accepted in the form %j', async (body) => {
    const { data } = expectStatus(await server.post(policy(await make()), body), 200).body;
    expect(data).toMatchObject({
      type: 'data-retention-policy-delete-olders',
      attributes: { 'delete-older-than-n-days': 7 },
    });
  });

  const ATTRIBUTE = '/data/attributes/delete-older-than-n-days';
  it.each([
    [deleteOlders(0), ATTRIBUTE, 'Delete older than n days must be greater than 0'],
    [deleteOlders(-1), ATTRIBUTE, 'Delete older than n days must be greater than 0'],
    [deleteOlders(1.5), ATTRIBUTE, 'Delete older than n days must be a whole number'],
    [deleteOlders(1e300), ATTRIBUTE, 'Delete older than n days must be at most 36500'],
    [deleteOlders('30'), ATTRIBUTE, 'Delete older than n days must be a number'],
    [deleteOlders(null), ATTRIBUTE, "Delete older than n days can't be blank"],
    [resource('data-retention-policy-delete-olders'), ATTRIBUTE, "Delete older than n days can't be blank"],
    [
      resource('data-retention-policy-dont-deletes', { 'delete-older-than-n-days': 30 }),
      ATTRIBUTE,
      'Delete older than n days must not be specified for data-retention-policy-dont-deletes',
    ],
    [
      resource('data-retention-policy-dont-deletes', { deleteOlderThanNDays: 30 }),
      '/data/attributes/deleteOlderThanNDays',
      'Delete older than n days must not be specified for data-retention-policy-dont-deletes',
    ],
    [
      resource('workspaces', {}),
      '/data/type',
      'Type must be data-retention-policy-delete-olders or data-retention-policy-dont-deletes or data-retention-policies',
    ],
  ])('is refused for the request %j', async (body, pointer, detail) => {
    const of = await make();
    for (const write of ['post', 'patch'] as const) {
      expect(listProblems(expectStatus(await server[write](policy(of), body), 422))).toEqual([[pointer, detail]]);
    }
    expect(await relationOf(of)).toEqual({ data: null });
  });

  it('is removed, and another one can be created', async () => {
    const of = await make();
    const body = resource('data-retention-policy-dont-deletes', { 'delete-older-than-n-days': null });
    const first = expectStatus(await server.post(policy(of), body), 200).body.data.id as string;
    expectStatus(await server.delete(policy(of)), 204);
    expectStatus(await server.get(policy(of)), 404);
    expect(await relationOf(of)).toEqual({ data: null });
    // Removing a policy that does not exist also succeeds.
    expectStatus(await server.delete(policy(of)), 204);
    const second = expectStatus(await server.post(policy(of), dontDeletes), 200).body.data.id as string;
    expect(second).not.toBe(first);
  });

  it('appends no event if nothing changes', async () => {
    const of = await make();
    expectStatus(await server.post(policy(of), deleteOlders(30)), 200);
    const before = await logLength(server.store);
    expectStatus(await server.post(policy(of), deleteOlders(30)), 200);
    expect(await logLength(server.store)).toBe(before);
  });

  it('is created only once, however many requests set it at the same time', async () => {
    const of = await make();
    const days = Array.from({ length: 20 }, (_, n) => n + 1);
    const answers = await Promise.all(days.map((n) => server.post(policy(of), deleteOlders(n))));
    const ids = new Set(answers.map((answer) => expectStatus(answer, 200).body.data.id as string));
    expect(ids.size).toBe(1);
    const { data } = (await server.get(policy(of))).body;
    expect([...ids]).toEqual([data.id]);
    expect(days).toContain(data.attributes['delete-older-than-n-days']);
    const rows = await server.database.rows(sql`select 1 from data_retention_policies where id = ${data.id}`);
    expect(rows).toHaveLength(1);
  });

  it('is deleted with its owner, and not created for an owner that is deleted during the request', async () => {
    const of = await make();
    const id = expectStatus(await server.post(policy(of), deleteOlders(30)), 200).body.data.id as string;
    const late = await make();
    for (const body of [deleteOlders(60), dontDeletes]) expectStatus(await server.post(policy(of), body), 200);
    runBetween(server.store, () => server.delete(owner(late)));
    expectStatus(await server.post(policy(late), deleteOlders(30)), 404);
    runBetween(server.store, () => server.delete(owner(of)));
    expectStatus(await server.post(policy(of), deleteOlders(90)), 404);
    // Organizations cannot be recovered, so there is nothing to remove.
    for (const one of [of, late]) await server.delete(`/api/v2/recoverable-items/${one}`);
    const remaining = await server.database.rows(
      sql`select 1 from data_retention_policies where id = ${id} or owner in (${of}, ${late})`,
    );
    expect(remaining).toEqual([]);
  });
});

describe('a workspace without a policy of its own', () => {
  it('has the policy of its organization, and none in its document', async () => {
    const organization = await newOrganization();
    const [plain, other] = [await newWorkspace(organization), await newWorkspace(organization)];
    const shared = expectStatus(await server.post(policy(organization), deleteOlders(90)), 200).body;
    expect((await server.get(policy(plain))).body).toEqual(shared);
    expect(await relationOf(plain)).toEqual({ data: null });
    const own = expectStatus(await server.post(policy(other), dontDeletes), 200).body;
    expect((await server.get(policy(other))).body).toEqual(own);
    expect((await server.get(policy(organization))).body).toEqual(shared);
    expectStatus(await server.delete(policy(other)), 204);
    expect((await server.get(policy(other))).body).toEqual(shared);
    // A workspace that uses the organization's policy cannot remove it.
    expectStatus(await server.delete(policy(plain)), 204);
    expect((await server.get(policy(organization))).body).toEqual(shared);
    expectStatus(await server.delete(owner(organization)), 204);
    const remaining = await server.database.rows(
      sql`select 1 from data_retention_policies where id = ${shared.data.id}`,
    );
    expect(remaining).toEqual([]);
  });
});

describe('permissions on policies', () => {
  it('let administrators of a workspace change its policy, and its readers read it', async () => {
    const workspace = await newWorkspace();
    const [admins, writers] = [await makeTeam(server, 'acme', 'admins'), await makeTeam(server, 'acme', 'writers')];
    await grantWorkspaceAccess(server, admins, workspace, 'admin');
    await grantWorkspaceAccess(server, writers, workspace, 'write');
    const admin = await makeMember(server, 'acme', 'ada', [admins]);
    const writer = await makeMember(server, 'acme', 'will', [writers]);
    const stranger = await makeMember(server, 'neighbour', 'stan');
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expectStatus(await admin.post(policy(workspace), deleteOlders(30)), 200);
    for (const [api, read] of [[writer, 200] as const, [token, 200] as const, [stranger, 404] as const]) {
      const answers = [
        await api.get(policy(workspace)),
        // The response does not reveal what is wrong with the policy.
        await api.post(policy(workspace), deleteOlders(0)),
        await api.patch(policy(workspace), dontDeletes),
        await api.delete(policy(workspace)),
      ];
      expect(answers.map(({ status }) => status)).toEqual([read, 404, 404, 404]);
    }
    expectStatus(await admin.delete(policy(workspace)), 204);
    expectStatus(await server.as(null).get(policy(workspace)), 401);
  });

  it('let owners of an organization change its policy, and its members read it', async () => {
    const owner = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
    const member = await makeMember(server, 'acme', 'mia', [await makeTeam(server, 'acme', 'plain')]);
    const stranger = await makeMember(server, 'neighbour', 'nora');
    expectStatus(await owner.post(policy('acme'), deleteOlders(30)), 200);
    for (const [api, read] of [[member, 200] as const, [stranger, 404] as const]) {
      const answers = [
        await api.get(policy('acme')),
        await api.post(policy('acme'), deleteOlders(0)),
        await api.delete(policy('acme')),
      ];
      expect(answers.map(({ status }) => status)).toEqual([read, 404, 404]);
    }
    expectStatus(await owner.delete(policy('acme')), 204);
  });
});

describe('the audit trail of policies', () => {
  it('records creation, change and deletion with the fields of the catalogue', async () => {
    const { id: organizationId } = await makeOrganization(server, 'audited');
    const workspace = await newWorkspace('audited');
    const id = expectStatus(await server.post(policy(workspace), deleteOlders(30)), 200).body.data.id as string;
    expectStatus(await server.post(policy(workspace), dontDeletes), 200);
    expectStatus(await server.post(policy(workspace), deleteOlders(14)), 200);
    expectStatus(await server.delete(policy(workspace)), 204);
    await waitForFollowers(server.store, 'audit_trail');
    const entries = await listStoredEntries(server.database, sql`e.resource_id = ${id}`);
    const organizationMeta = { organization: 'audited', organization_id: organizationId };
    expect(entries.map((entry) => entry.resource)).toEqual(
      [
        ['create', { ...organizationMeta, delete_older_than_n_days: 30, workspace_id: workspace }],
        ['update', organizationMeta],
        ['update', { ...organizationMeta, delete_older_than_n_days: 14 }],
        ['destroy', { ...organizationMeta, delete_older_than_n_days: 14 }],
      ].map(([action, meta]) => ({ id, type: 'data_retention_policy', action, meta })),
    );
  });
});

describe('the view of policies', () => {
  it('equals the view that is rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [retentionDefinition]);
  });
});

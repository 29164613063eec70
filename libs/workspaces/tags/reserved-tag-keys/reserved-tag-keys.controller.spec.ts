import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { logLength } from '../../../../test/support/event-log.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import {
  expectStatus,
  bindTags,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeWorkspace,
  refusalOf,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { tagsDefinition } from '../index.js';

const BY_ID = ['reserved-tags', 'reserved-tag-keys'] as const;
const KEY = '/data/attributes/key';

let server: TestServer;
let member: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  for (const name of ['acme', 'neighbour', 'policy']) await makeOrganization(server, name);
  member = await makeMember(server, 'acme', 'member', [await makeTeam(server, 'acme', 'crew')]);
});

afterAll(() => server.close());

const pathIn = (organization: string): string => `/api/v2/organizations/${organization}/reserved-tag-keys`;
const ACME = pathIn('acme');
const byId = (id: string, form: (typeof BY_ID)[number] = 'reserved-tags'): string => `/api/v2/${form}/${id}`;
const reserved = (attributes: object) => resource('reserved-tag-keys', attributes);
const keysIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: { attributes: { key: string } }) => attributes.key);
const listed = async (organization: string, query = ''): Promise<string[]> =>
  keysIn(expectStatus(await server.get(`${pathIn(organization)}?${query}`), 200));

describe('a reserved tag key', () => {
  it('is created, and has the same document in the list', async () => {
    const created = await server.post(ACME, reserved({ key: 'cost-center', 'disable-overrides': true }));
    const { body } = expectStatus(created, 201);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(/^rtk-\w{16}$/),
        type: 'reserved-tag-keys',
        attributes: {
          key: 'cost-center',
          'disable-overrides': true,
          'created-at': time,
          'updated-at': time,
          created_at: time,
          updated_at: time,
        },
      },
    });
    expect((await server.get(ACME)).body.data).toEqual([body.data]);
  });

  it('allows overrides by default', async () => {
    // go-tfe omits the attribute.
    const { body } = expectStatus(await server.post(ACME, reserved({ key: 'env' })), 201);
    expect(body.data.attributes['disable-overrides']).toBe(false);
  });

  it.each(BY_ID)('changes only the named attributes at /%s', async (form) => {
    const id = await makeReservedTagKey(server, 'acme', `changed-at-${form}`, { 'disable-overrides': true });
    const path = byId(id, form);
    const renamed = expectStatus(
      await server.patch(path, { data: { id, attributes: { key: `${form}.2` } } }),
      200,
    ).body;
    expect(renamed.data).toMatchObject({ id, attributes: { key: `${form}.2`, 'disable-overrides': true } });
    const opened = expectStatus(await server.patch(path, reserved({ 'disable-overrides': false })), 200).body;
    expect(opened.data).toMatchObject({ id, attributes: { key: `${form}.2`, 'disable-overrides': false } });
    expect(expectStatus(await server.patch(path, { data: { type: 'reserved-tag-keys' } }), 200).body).toEqual(opened);
    const { 'created-at': created, 'updated-at': updated } = opened.data.attributes;
    expect(Date.parse(updated as string)).toBeGreaterThan(Date.parse(created as string));
    expect((await server.get(`${ACME}?page[size]=100`)).body.data).toContainEqual(opened.data);
  });

  it.each(BY_ID)('is deleted at /%s, and its key becomes free', async (form) => {
    const id = await makeReservedTagKey(server, 'acme', 'passing');
    expect(expectStatus(await server.delete(byId(id, form)), 204).text).toBe('');
    expect(await listed('acme', 'page[size]=100')).not.toContain('passing');
    expectStatus(await server.delete(byId(id, form)), 404);
    expectStatus(await server.patch(byId(id, form), reserved({ key: 'again' })), 404);
    const next = await makeReservedTagKey(server, 'acme', 'passing');
    expect(next).not.toBe(id);
    expectStatus(await server.delete(byId(next)), 204);
  });

  it('has a unique key in its organization', async () => {
    await makeReservedTagKey(server, 'acme', 'taken');
    const free = await makeReservedTagKey(server, 'acme', 'free');
    const answers = [
      await server.post(ACME, reserved({ key: 'taken' })),
      await server.patch(byId(free), reserved({ key: 'taken', 'disable-overrides': true })),
    ];
    for (const answer of answers) expect(refusalOf(answer)).toEqual([KEY, 'Key has already been taken']);
    expectStatus(await server.patch(byId(free), reserved({ key: 'free' })), 200);
    // Keys are case-sensitive, like tags.
    await makeReservedTagKey(server, 'acme', 'Taken');
    await makeReservedTagKey(server, 'neighbour', 'taken');
  });

  it('is created once if several requests arrive at once', async () => {
    const racing = Array.from({ length: 8 }, () => server.post(ACME, reserved({ key: 'raced' })));
    const answers = await Promise.all(racing);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(7).fill(422)]);
    for (const answer of answers.filter(({ status }) => status === 422)) {
      expect(refusalOf(answer)).toEqual([KEY, 'Key has already been taken']);
    }
  });

  it.each<[object, string, string]>([
    [{}, KEY, "Key can't be blank"],
    [{ key: '' }, KEY, "Key can't be blank"],
    [{ key: null }, KEY, "Key can't be blank"],
    [{ key: 7 }, KEY, 'Key must be a string'],
    [{ key: ['env'] }, KEY, 'Key must be a string'],
    [{ key: 'a/b' }, KEY, 'Key is invalid'],
    [{ key: 'k'.repeat(129) }, KEY, 'Key is invalid'],
    [{ key: 'a\0b' }, KEY, 'Key holds a character that cannot be stored'],
    [
      { key: 'x', 'disable-overrides': 'true' },
      '/data/attributes/disable-overrides',
      'Disable overrides must be true or false',
    ],
  ])('is not created with or changed to %j', async (attributes, pointer, detail) => {
    const before = await logLength(server.store);
    expect(refusalOf(await server.post(ACME, reserved(attributes)))).toEqual([pointer, detail]);
    expect(await logLength(server.store)).toBe(before);
    if (Object.keys(attributes).length === 0) return;
    const id = await makeReservedTagKey(server, 'neighbour', 'unchanged');
    expect(refusalOf(await server.patch(byId(id), reserved(attributes)))).toEqual([pointer, detail]);
    expectStatus(await server.delete(byId(id)), 204);
  });

  it('accepts null for disable-overrides: false for a new key, unchanged for an existing one', async () => {
    const created = expectStatus(await server.post(ACME, reserved({ key: 'open', 'disable-overrides': null })), 201)
      .body.data;
    expect(created.attributes['disable-overrides']).toBe(false);
    expectStatus(await server.patch(byId(created.id), reserved({ 'disable-overrides': true })), 200);
    const { body } = expectStatus(await server.patch(byId(created.id), reserved({ 'disable-overrides': null })), 200);
    expect(body.data.attributes['disable-overrides']).toBe(true);
    expectStatus(await server.delete(byId(created.id)), 204);
  });

  it('is refused with another type, but accepted with an empty type', async () => {
    expect(refusalOf(await server.post(ACME, resource('tags', { key: 'typed' })))).toEqual([
      '/data/type',
      'Type must be reserved-tag-keys',
    ]);
    const id = expectStatus(await server.post(ACME, resource('', { key: 'typed' })), 201).body.data.id as string;
    expect((await server.patch(byId(id), resource('tags', { key: 'other' }))).status).toBe(422);
  });
});

describe('the reserved tag keys of an organization', () => {
  it('are listed by key, page by page', async () => {
    await makeOrganization(server, 'paged');
    const keys = Array.from({ length: 23 }, (_, n) => `key-${String(n).padStart(2, '0')}`);
    for (const key of keys.toReversed()) await makeReservedTagKey(server, 'paged', key);
    const first = expectStatus(await server.get(pathIn('paged')), 200);
    expect(keysIn(first)).toEqual(keys.slice(0, 20));
    expect(first.body.meta.pagination).toEqual({
      'current-page': 1,
      'page-size': 20,
      'prev-page': null,
      'next-page': 2,
      'total-pages': 2,
      'total-count': 23,
    });
    expect(keysIn(await server.get(first.body.links.next as string))).toEqual(keys.slice(20));
    const beyond = expectStatus(await server.get(`${pathIn('paged')}?page[number]=9&page[size]=5`), 200).body;
    expect(beyond).toMatchObject({ data: [], meta: { pagination: { 'current-page': 9, 'total-count': 23 } } });
  });

  it('are empty at first', async () => {
    await makeOrganization(server, 'bare');
    expect((await server.get(pathIn('bare'))).body).toMatchObject({
      data: [],
      meta: { pagination: { 'total-count': 0, 'total-pages': 0 } },
    });
  });

  it('are read by members, and changed by callers that may manage workspaces', async () => {
    const id = await makeReservedTagKey(server, 'acme', 'guarded');
    const managers = await makeTeam(server, 'acme', 'managers', {
      'organization-access': { 'manage-workspaces': true },
    });
    const writers: ApiTestClient[] = [
      await makeMember(server, 'acme', 'manager', [managers]),
      server.as(await makeOrganizationToken(server, 'acme')),
    ];
    for (const api of writers) {
      expect(keysIn(expectStatus(await api.get(`${ACME}?page[size]=100`), 200))).toContain('guarded');
      const createdId = expectStatus(await api.post(ACME, reserved({ key: 'theirs' })), 201).body.data.id as string;
      expectStatus(await api.patch(byId(createdId), reserved({ 'disable-overrides': true })), 200);
      expectStatus(await api.delete(byId(createdId)), 204);
    }
    expect(keysIn(expectStatus(await member.get(`${ACME}?page[size]=100`), 200))).toContain('guarded');
    const stranger = await makeMember(server, 'neighbour', 'stranger', []);
    expectStatus(await stranger.get(ACME), 404);
    for (const api of [member, stranger]) {
      expectStatus(await api.post(ACME, reserved({ key: 'theirs' })), 404);
      for (const form of BY_ID) {
        expectStatus(await api.patch(byId(id, form), reserved({ key: 'theirs' })), 404);
        expectStatus(await api.delete(byId(id, form)), 404);
      }
    }
  });

  it('are deleted with it, and cannot be created or changed during its deletion', async () => {
    await makeOrganization(server, 'ended');
    const id = await makeReservedTagKey(server, 'ended', 'last');
    const end = () => server.delete('/api/v2/organizations/ended');
    runBetween(server.store, end);
    expectStatus(await server.post(pathIn('ended'), reserved({ key: 'late' })), 404);
    expectStatus(await server.patch(byId(id), reserved({ key: 'late' })), 404);
    await makeOrganization(server, 'ended');
    expect(await listed('ended')).toEqual([]);
    const next = await makeReservedTagKey(server, 'ended', 'next');
    runBetween(server.store, end);
    expectStatus(await server.patch(byId(next), reserved({ key: 'late' })), 404);
  });
});

describe('the rule of a reserved tag key', () => {
  let project: string;
  let count = 0;

  beforeAll(async () => {
    project = await makeProject(server, 'policy', 'platform');
    await bindTags(server, `projects/${project}`, { env: 'prod', team: 'core' });
  });

  const workspaceWith = (tags: Readonly<Record<string, string>> = {}): Promise<string> =>
    makeWorkspace(
      server,
      'policy',
      `workspace-${(count += 1)}`,
      {},
      { project: { data: { type: 'projects', id: project } }, 'tag-bindings': tagBindings(tags) },
    );
  const bind = (id: string, tags: Readonly<Record<string, string>>): Promise<ApiResponse> =>
    server.patch(`/api/v2/workspaces/${id}/tag-bindings`, tagBindings(tags));
  const valuesOf = async (id: string): Promise<Record<string, string>> => {
    const { data } = expectStatus(await server.get(`/api/v2/workspaces/${id}/effective-tag-bindings`), 200).body;
    return Object.fromEntries(data.map(({ attributes: { key, value } }: any) => [key, value]));
  };

  it('keeps existing overrides, and refuses new ones', async () => {
    const before = await workspaceWith({ env: 'test' });
    const plain = await workspaceWith();
    const id = await makeReservedTagKey(server, 'policy', 'env');
    expectStatus(await bind(plain, { env: 'dev' }), 200);
    expectStatus(await server.patch(byId(id), reserved({ 'disable-overrides': true })), 200);
    expect(await valuesOf(before)).toEqual({ env: 'test', team: 'core' });
    expect(await valuesOf(plain)).toEqual({ env: 'dev', team: 'core' });
    // The same value changes nothing and is accepted.
    expectStatus(await bind(before, { env: 'test', owner: 'ada' }), 200);
    const [, detail] = refusalOf(await bind(before, { env: 'stage' }));
    for (const word of ['env', 'platform', id]) expect(detail).toContain(word);
    const created = await workspaceWith();
    refusalOf(await bind(created, { env: 'test' }));
    expect(await valuesOf(created)).toEqual({ env: 'prod', team: 'core' });
    // A removed override cannot come back.
    const cleared = resource('workspaces', {}, { 'tag-bindings': tagBindings({}) });
    expectStatus(await server.patch(`/api/v2/workspaces/${before}`, cleared), 200);
    refusalOf(await bind(before, { env: 'test' }));
    expectStatus(await server.patch(byId(id), reserved({ 'disable-overrides': false })), 200);
    expectStatus(await bind(created, { env: 'test' }), 200);
    expectStatus(await server.delete(byId(id)), 204);
  });

  it('follows a change of the key, and ends with its deletion', async () => {
    const id = await makeReservedTagKey(server, 'policy', 'env', { 'disable-overrides': true });
    const workspace = await workspaceWith();
    refusalOf(await bind(workspace, { env: 'test' }));
    expectStatus(await bind(workspace, { team: 'own' }), 200);
    expectStatus(await server.patch(byId(id), reserved({ key: 'team' })), 200);
    expectStatus(await bind(workspace, { env: 'test' }), 200);
    const [, detail] = refusalOf(await bind(workspace, { team: 'other' }));
    expect(detail).toContain(id);
    expect(await valuesOf(workspace)).toEqual({ env: 'test', team: 'own' });
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await bind(workspace, { team: 'other' }), 200);
  });

  it('applies only to keys that the project binds', async () => {
    const id = await makeReservedTagKey(server, 'policy', 'owner', { 'disable-overrides': true });
    const workspace = await workspaceWith({ owner: 'ada' });
    expectStatus(await bind(workspace, { owner: 'grace' }), 200);
    await bindTags(server, `projects/${project}`, { owner: 'linus' });
    refusalOf(await bind(workspace, { owner: 'ada' }));
    expect((await valuesOf(workspace))['owner']).toBe('grace');
    expectStatus(await server.delete(byId(id)), 204);
  });
});

describe('changes of reserved tag keys', () => {
  it('are recorded in the audit trail with the attributes before and after', async () => {
    await makeOrganization(server, 'told');
    const id = await makeReservedTagKey(server, 'told', 'env');
    expectStatus(await server.patch(byId(id), reserved({ 'disable-overrides': true })), 200);
    expectStatus(await server.patch(byId(id), reserved({ key: 'env', 'disable-overrides': true })), 200);
    expectStatus(await server.patch(byId(id), reserved({ key: 'stage' })), 200);
    expectStatus(await server.delete(byId(id)), 204);
    const auditor = server.as(await makeOrganizationToken(server, 'told'));
    const { data } = expectStatus(await auditor.get('/api/v2/organization/audit-trail'), 200).body;
    const entries = data.filter((entry: any) => entry.resource.type === 'reserved_tag_key');
    expect(entries.map((entry: any) => entry.resource)).toEqual(
      [
        { action: 'destroy', meta: { key: 'stage', disable_overrides: true } },
        {
          action: 'update',
          meta: { from: { key: 'env', disable_overrides: true }, to: { key: 'stage', disable_overrides: true } },
        },
        {
          action: 'update',
          meta: { from: { key: 'env', disable_overrides: false }, to: { key: 'env', disable_overrides: true } },
        },
        { action: 'create', meta: { key: 'env', disable_overrides: false } },
      ].map((one) => ({ id, type: 'reserved_tag_key', ...one })),
    );
  });

  it('can be rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [tagsDefinition]);
  });
});

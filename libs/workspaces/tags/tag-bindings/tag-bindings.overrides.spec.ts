import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { logLength } from '../../../../test/support/event-log.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import {
  expectStatus,
  bindTags,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeWorkspace,
  related,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';

/** Project `strict` binds `env`, which workspaces may not override. Project `open` binds nothing. */
let server: TestServer;
let strict: string;
let open: string;
let reserved: string;
let count = 0;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  strict = await makeProject(server, 'acme', 'strict');
  open = await makeProject(server, 'acme', 'open');
  await bindTags(server, `projects/${strict}`, { env: 'prod', team: 'core' });
  reserved = await makeReservedTagKey(server, 'acme', 'env', { 'disable-overrides': true });
  await makeReservedTagKey(server, 'acme', 'team');
  await makeReservedTagKey(server, 'acme', 'unbound', { 'disable-overrides': true });
});

afterAll(() => server.close());

type Tags = Readonly<Record<string, string>>;

const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });
const bound = (tags: Tags) => ({ 'tag-bindings': tagBindings(tags) });
const flat = (...names: readonly string[]) => ({ data: names.map((name) => ({ type: 'tags', attributes: { name } })) });

const workspaceIn = (project: string, relationships: object = {}): Promise<string> =>
  makeWorkspace(server, 'acme', `w-${(count += 1)}`, {}, { ...inProject(project), ...relationships });
const patch = (id: string, relationships: object, attributes: object = {}): Promise<ApiResponse> =>
  server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships));

/** Expects a refusal that names key, project and reserved key, with this pointer, and no event. */
const expectRefused = async (send: () => Promise<ApiResponse>, pointer: string): Promise<void> => {
  const length = await logLength(server.store);
  const { errors } = expectStatus(await send(), 422).body;
  expect(errors).toEqual([
    {
      status: '422',
      title: 'invalid attribute',
      detail:
        `Key env is bound by project strict and reserved with overrides disabled (${reserved}): ` +
        'workspaces in the project cannot bind it',
      source: { pointer },
    },
  ]);
  expect(await logLength(server.store)).toBe(length);
};

const OWN = '/data/relationships/tag-bindings/data';
const PROJECT = '/data/relationships/project/data/id';

describe('a key with disabled overrides', () => {
  it('is not bound by a new workspace', async () => {
    const create = (relationships: object) => {
      const body = resource('workspaces', { name: 'unborn' }, { ...inProject(strict), ...relationships });
      return server.post('/api/v2/organizations/acme/workspaces', body);
    };
    await expectRefused(() => create(bound({ zone: 'a', env: 'test' })), `${OWN}/1/attributes/key`);
    await expectRefused(() => create({ tags: flat('zone', 'env') }), '/data/relationships/tags/data/1');
    expectStatus(await server.get('/api/v2/organizations/acme/workspaces/unborn'), 404);
  });

  it('is not bound by an existing workspace, on any path', async () => {
    const id = await workspaceIn(strict, bound({ zone: 'a' }));
    const before = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body;
    const own = bound({ zone: 'b', env: 'test' });
    await expectRefused(() => patch(id, own, { description: 'new' }), `${OWN}/1/attributes/key`);
    const byName = `/api/v2/organizations/acme/workspaces/${before.data.attributes.name}`;
    await expectRefused(() => server.patch(byName, resource('workspaces', {}, own)), `${OWN}/1/attributes/key`);
    const tags = tagBindings({ zone: 'b', env: 'test' });
    await expectRefused(() => server.patch(`/api/v2/workspaces/${id}/tag-bindings`, tags), '/data/1/attributes/key');
    const relationship = `/api/v2/workspaces/${id}/relationships/tag-bindings`;
    await expectRefused(() => server.patch(relationship, tags), '/data/1/attributes/key');
    await expectRefused(() => server.post(relationship, tags), '/data/1/attributes/key');
    // The same value is an override, too: it would not change with the project.
    await expectRefused(() => server.post(relationship, tagBindings({ env: 'prod' })), '/data/0/attributes/key');
    await expectRefused(
      () => server.post(`/api/v2/workspaces/${id}/relationships/tags`, flat('zone', 'env')),
      '/data/1',
    );
    expect(expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body).toEqual(before);
  });

  it('is not moved along from another project, by either way of moving', async () => {
    const [clean, bare] = [await workspaceIn(open), await workspaceIn(open, { tags: flat('env') })];
    const id = await workspaceIn(open, bound({ env: 'test' }));
    await expectRefused(() => patch(id, inProject(strict)), PROJECT);
    await expectRefused(() => patch(bare, inProject(strict)), PROJECT);
    await expectRefused(
      () => patch(id, { ...inProject(strict), ...bound({ env: 'test' }) }),
      `${OWN}/0/attributes/key`,
    );
    const into = `/api/v2/projects/${strict}/relationships/workspaces`;
    await expectRefused(() => server.post(into, related('workspaces', clean, id)), '/data/1');
    expectStatus(await patch(id, { ...inProject(strict), ...bound({ zone: 'a' }) }), 200);
    expectStatus(await server.post(into, related('workspaces', clean, id)), 204);
  });

  it('may be bound in projects that do not bind it, and if overrides are enabled', async () => {
    const id = await workspaceIn(strict, bound({ team: 'mine', unbound: 'x' }));
    expectStatus(await patch(id, { ...inProject(open), ...bound({ env: 'test' }) }), 200);
    await bindTags(server, `workspaces/${id}`, { team: 'other', env: 'mine' });
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${id}/tag-bindings`), 200);
    expect(body.data.map(({ attributes: { value } }: any) => value)).toEqual(['mine', 'other']);
  });

  it('keeps an older override until it is removed, while other tags may change', async () => {
    const project = await makeProject(server, 'acme', 'late');
    const into = inProject(project);
    const id = await makeWorkspace(server, 'acme', 'early', {}, { ...into, ...bound({ region: 'eu', zone: 'a' }) });
    await bindTags(server, `projects/${project}`, { region: 'us' });
    const key = await makeReservedTagKey(server, 'acme', 'region', { 'disable-overrides': true });
    const pairs = async (): Promise<unknown> =>
      expectStatus(await server.get(`/api/v2/workspaces/${id}/tag-bindings`), 200).body.data.map(
        ({ attributes }: any) => [attributes.key, attributes.value, attributes['forbidden-by']],
      );
    expect(await pairs()).toEqual([
      ['region', 'eu', key],
      ['zone', 'a', null],
    ]);
    const path = `/api/v2/workspaces/${id}/tag-bindings`;
    expectStatus(await server.patch(path, tagBindings({ region: 'us' })), 422);
    expectStatus(await patch(id, bound({ region: 'us' })), 422);
    expectStatus(await server.patch(path, tagBindings({ region: 'eu', zone: 'b' })), 200);
    expectStatus(await patch(id, { ...into, ...bound({ region: 'eu', zone: 'c' }) }, { description: 'kept' }), 200);
    expect(await pairs()).toEqual([
      ['region', 'eu', key],
      ['zone', 'c', null],
    ]);
    expectStatus(await patch(id, bound({ zone: 'c' })), 200);
    expectStatus(await server.patch(path, tagBindings({ region: 'eu' })), 422);
  });

  it('may be overridden again after overrides are enabled', async () => {
    const project = await makeProject(server, 'acme', 'loosened');
    await bindTags(server, `projects/${project}`, { tier: '1' });
    const key = await makeReservedTagKey(server, 'acme', 'tier', { 'disable-overrides': true });
    const id = await workspaceIn(project);
    const bind = () => server.patch(`/api/v2/workspaces/${id}/tag-bindings`, tagBindings({ tier: '2' }));
    expect((await bind()).status).toBe(422);
    const loosened = resource('reserved-tag-keys', { 'disable-overrides': false });
    expectStatus(await server.patch(`/api/v2/reserved-tag-keys/${key}`, loosened), 200);
    expectStatus(await bind(), 200);
  });
});

describe('a key whose overrides are being disabled', () => {
  const fix = (id: string): Promise<ApiResponse> =>
    server.patch(`/api/v2/reserved-tag-keys/${id}`, resource('reserved-tag-keys', { 'disable-overrides': true }));

  /** Creates a workspace in a project that binds a key, with overrides enabled. */
  const makeOverridable = async () => {
    const key = `free-${(count += 1)}`;
    const project = await makeProject(server, 'acme', key);
    await bindTags(server, `projects/${project}`, { [key]: 'prod' });
    return { key, project, id: await workspaceIn(project), reserved: await makeReservedTagKey(server, 'acme', key) };
  };
  type Overridable = Awaited<ReturnType<typeof makeOverridable>>;

  it.each<[string, (at: Overridable) => Promise<ApiResponse>]>([
    ['a binding', ({ key, id }) => server.patch(`/api/v2/workspaces/${id}/tag-bindings`, tagBindings({ [key]: 'x' }))],
    ['a flat tag', ({ key, id }) => server.post(`/api/v2/workspaces/${id}/relationships/tags`, flat(key))],
    ['an update', ({ key, id }) => patch(id, bound({ [key]: 'x' }))],
    [
      'a new workspace',
      ({ key, project }) => {
        const relationships = { ...inProject(project), ...bound({ [key]: 'x' }) };
        return server.post(
          '/api/v2/organizations/acme/workspaces',
          resource('workspaces', { name: `late-${key}` }, relationships),
        );
      },
    ],
  ])('refuses %s that was decided before the policy changed', async (_, send) => {
    const changed = await makeOverridable();
    runBetween(server.store, () => fix(changed.reserved));
    expect((await send(changed)).status).toBe(422);
    const key = `free-${(count += 1)}`;
    const created = { ...changed, key };
    await bindTags(server, `projects/${changed.project}`, { [key]: 'prod' });
    runBetween(server.store, () => makeReservedTagKey(server, 'acme', key, { 'disable-overrides': true }));
    expect((await send(created)).status).toBe(422);
    const late = { ...changed, key: `free-${(count += 1)}` };
    await makeReservedTagKey(server, 'acme', late.key, { 'disable-overrides': true });
    runBetween(server.store, () => bindTags(server, `projects/${changed.project}`, { [late.key]: 'prod' }));
    expect((await send(late)).status).toBe(422);
  });

  it('refuses a tag for several workspaces, and a move, that were decided before the policy changed', async () => {
    const { key, id, reserved: changed } = await makeOverridable();
    const carrier = await workspaceIn(open, { tags: flat(key) });
    const movedWorkspace = await workspaceIn(open, { tags: flat(key) });
    const { id: tag } = expectStatus(await server.get(`/api/v2/workspaces/${carrier}/relationships/tags`), 200).body
      .data[0];
    runBetween(server.store, () => fix(changed));
    const tagged = await server.post(`/api/v2/tags/${tag}/relationships/workspaces`, related('workspaces', id));
    expect(tagged.status).toBe(422);
    const other = await makeOverridable();
    expectStatus(await server.post(`/api/v2/workspaces/${movedWorkspace}/relationships/tags`, flat(other.key)), 204);
    runBetween(server.store, () => fix(other.reserved));
    const move = await server.post(
      `/api/v2/projects/${other.project}/relationships/workspaces`,
      related('workspaces', movedWorkspace),
    );
    expect(move.status).toBe(422);
  });

  it('has no binding after the change in the log, however many requests bind it at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { key, project, reserved: changed } = await makeOverridable();
      const ids = await Promise.all([1, 2, 3, 4].map(() => workspaceIn(project)));
      const binds = ids.map((id) => server.patch(`/api/v2/workspaces/${id}/tag-bindings`, tagBindings({ [key]: 'x' })));
      const statuses = (await Promise.all([fix(changed), ...binds])).map(({ status }) => status);
      const streams = [...ids, changed];
      const log = await server.database.rows(sql`
        select type from event_store.events where stream = any (${streams}::text[]) order by transaction, position`);
      const types = log.map(({ type }) => type);
      const before = types.slice(0, types.indexOf('ReservedTagKeyUpdated'));
      const boundAtAll = statuses.slice(1).filter((status) => status === 200);
      expect(before.filter((type) => type === 'WorkspaceTagBound')).toHaveLength(boundAtAll.length);
    }
  });
});

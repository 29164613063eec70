import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql, type EventContext } from '#platform/kernel';
import { newStream, decideWrite } from '#storage/event-store';
import {
  expectStatus,
  flatTags,
  idOfTag,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  related,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { workspace } from '../workspaces/workspace.js';
import { workspacesDefinition } from '../workspaces.module.js';

const PATH = '/api/v2/organizations/acme/tags';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const CONTEXT: EventContext = {
  accessor: { id: 'user-x', type: 'users', name: 'x' },
  auth: 'Client',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: 'seed',
  causation: null,
};

let rounds = 0;

/** Appends workspaces with these tags: more than a request could create. */
const grow = async (count: number, tagsOf: (n: number) => readonly string[]): Promise<readonly string[]> => {
  rounds += 1;
  const round = rounds;
  const ids = Array.from({ length: count }, (_, n) => `ws-${round}-${String(n).padStart(4, '0')}`);
  const write = (id: string, n: number) => {
    const data = { project: acme.defaultProject, name: id, settings: DEFAULT_SETTINGS, names: tagsOf(n), bindings: [] };
    return decideWrite(workspace, newStream(id, workspace), acme.id, { type: 'CreateWorkspace', data });
  };
  await server.store.append(ids.map(write), CONTEXT);
  return ids;
};

const doomed = async (...names: readonly string[]) =>
  related('tags', ...(await Promise.all(names.map((name) => idOfTag(server, 'acme', name)))));

const counts = async (): Promise<Record<string, number>> => {
  const { body } = expectStatus(await server.get(`${PATH}?page[size]=100`), 200);
  type Entry = { readonly attributes: { readonly name: string; readonly 'instance-count': number } };
  return Object.fromEntries(body.data.map(({ attributes }: Entry) => [attributes.name, attributes['instance-count']]));
};

/** Returns the events of these workspaces after their creation. */
const listLaterEvents = (
  ids: readonly string[],
): Promise<readonly { readonly type: string; readonly stream: string }[]> =>
  server.database.rows(sql`
    select stream, type, data, context from event_store.events e
     where stream = any (${ids}::text[]) and version > 1 order by e.transaction, e.position`);

const remove = (api: ApiTestClient, body: unknown): Promise<ApiResponse> => api.delete(PATH, body);

describe('deleting tags from an organization', () => {
  it('removes them from all workspaces, with an event each', async () => {
    const ids = await grow(3, (n) => (n === 0 ? ['kept', 'a'] : ['a', 'b']));
    const bystander = await makeWorkspace(server, 'acme', 'bystander', {}, { tags: flatTags('kept') });
    expectStatus(await remove(server, await doomed('a', 'b')), 204);
    expect(await counts()).toEqual({ kept: 2 });
    expect((await listLaterEvents(ids)).map(({ type }) => type)).toEqual(
      Array.from({ length: 5 }, () => 'WorkspaceTagRemoved'),
    );
    expect(await listLaterEvents([bystander])).toEqual([]);
    expectStatus(await remove(server, await doomed('kept')), 204);
  });

  it('leaves bindings with such a key', async () => {
    await grow(1, () => ['env']);
    const data = [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }];
    const bound = await makeWorkspace(server, 'acme', 'bound', {}, { 'tag-bindings': { data } });
    expectStatus(await remove(server, await doomed('env')), 204);
    expect(await listLaterEvents([bound])).toEqual([]);
  });

  it('requires ids of existing tags, and removes none if one is missing', async () => {
    await makeOrganization(server, 'other');
    await makeWorkspace(server, 'other', 'there', {}, { tags: flatTags('theirs') });
    await grow(1, () => ['mine']);
    for (const id of ['tag-0123456789abcdef', await idOfTag(server, 'other', 'theirs')]) {
      const { body } = expectStatus(await remove(server, { data: [...(await doomed('mine')).data, { id }] }), 404);
      expect(body.errors[0].detail).toBe(`Tag ${id} not found`);
    }
    expect(await counts()).toEqual({ mine: 1 });
    expectStatus(await remove(server, { data: [] }), 204);
    expectStatus(await remove(server, await doomed('mine')), 204);
  });

  it('requires the permission to manage all workspaces', async () => {
    await grow(1, () => ['guarded']);
    const body = await doomed('guarded');
    const readers = await makeTeam(server, 'acme', 'readers', { 'organization-access': { 'read-workspaces': true } });
    const managers = await makeTeam(server, 'acme', 'managers', {
      'organization-access': { 'manage-workspaces': true },
    });
    expectStatus(await remove(await makeMember(server, 'acme', 'reader', [readers]), body), 404);
    expectStatus(await remove(await makeMember(server, 'acme', 'manager', [managers]), body), 204);
    expect(await counts()).toEqual({});
  });

  it('is one append for a few workspaces, and one for every few hundred of many', async () => {
    const transactions = async (count: number, ...names: readonly string[]): Promise<number> => {
      const ids = await grow(count, (n) => names.filter((_, index) => n % (index + 1) === 0));
      expectStatus(await remove(server, await doomed(...names)), 204);
      const events = await listLaterEvents(ids);
      expect(events).toHaveLength(names.reduce((sum, _, index) => sum + Math.ceil(count / (index + 1)), 0));
      const [row] = await server.database.rows<{ n: number }>(sql`
        select count(distinct transaction::text) as n from event_store.events
         where stream = any (${ids}::text[]) and version > 1`);
      return row?.n ?? 0;
    };
    expect(await transactions(20, 'few')).toBe(1);
    expect(await transactions(251, 'exactly')).toBe(2);
    expect(await transactions(600, 'many', 'half')).toBe(3);
  });

  it('continues after an interruption if it is repeated', async () => {
    const ids = await grow(600, (n) => (n < 10 ? ['early', 'everywhere'] : ['everywhere']));
    const body = await doomed('early', 'everywhere');
    let appends = 0;
    const append = server.store.append.bind(server.store);
    const cut = jest.spyOn(server.store, 'append').mockImplementation((...written) => {
      appends += 1;
      return appends === 2 ? Promise.reject(new Error('the power is gone')) : append(...written);
    });
    expectStatus(await remove(server, body), 500);
    cut.mockRestore();
    // The tags exist until all of it is done.
    expect(await counts()).toEqual({ early: 1, everywhere: 350 });
    expectStatus(await remove(server, body), 204);
    expect(await listLaterEvents(ids)).toHaveLength(610);
    expectStatus(await remove(server, body), 404);
  });

  it('leaves every workspace with the latest change if other changes happen at the same time', async () => {
    const ids = await grow(300, () => ['contested']);
    const body = await doomed('contested');
    const changedIds = ids.filter((_, n) => n % 30 === 0);
    const [removal, ...changes] = await Promise.all([
      remove(server, body),
      ...changedIds.map((id) => server.post(`/api/v2/workspaces/${id}/actions/lock`)),
      ...changedIds.map((id) => server.post(`/api/v2/workspaces/${id}/relationships/tags`, flatTags('added'))),
    ]);
    expectStatus(removal, 204);
    expect(changes.map(({ status }) => status)).toEqual([...changedIds.map(() => 200), ...changedIds.map(() => 204)]);
    expect(await counts()).toEqual({ added: changedIds.length });
    expectStatus(await remove(server, await doomed('added')), 204);
  });

  it('leaves views that equal the views rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });
});

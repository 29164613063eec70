import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listViews, rebuildView } from '#storage/event-store';
import { projectEvent, sql, type Projection, type RecordedEvent } from '#platform/kernel';
import { listNames } from '../../../test/support/responses.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeProject,
  makeRun,
  makeWorkspace,
  related,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { workspacesDefinition } from './workspaces.module.js';
import { workspaces } from './workspaces.projection.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

describe('the locked workspaces', () => {
  const readRows = () => server.database.rows(sql`select * from workspace_locks order by organization, workspace`);
  const act = async (id: string, action: string): Promise<unknown> =>
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/${action}`), 200);
  const readLocked = async (organization = 'locks'): Promise<readonly string[]> =>
    listNames(
      expectStatus(await server.get(`/api/v2/organizations/${organization}/workspaces?filter[locked]=true`), 200),
    );

  beforeAll(async () => {
    await makeOrganization(server, 'locks');
  });

  it('follow locks, unlocks, moves, runs and deletions', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const ids = await Promise.all(names.map((name) => makeWorkspace(server, 'locks', name)));
    const [a = '', b = '', c = '', d = '', e = ''] = ids;
    for (const id of [a, b, c, e]) await act(id, 'lock');
    await makeConfigurationVersion(server, d);
    const run = await makeRun(server, d);
    expect(await readLocked()).toEqual(['a', 'b', 'c', 'd', 'e']);
    await act(a, 'unlock');
    await act(b, 'force-unlock');
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    expect(await readLocked()).toEqual(['c', 'e']);
    const project = await makeProject(server, 'locks', 'moved');
    const into = related('workspaces', c);
    expectStatus(await server.post(`/api/v2/projects/${project}/relationships/workspaces`, into), 204);
    await act(a, 'lock');
    expect(await readLocked()).toEqual(['a', 'c', 'e']);
    expectStatus(await server.delete(`/api/v2/workspaces/${e}`), 204);
    expect(await readLocked()).toEqual(['a', 'c']);
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });

  it('go with their organization', async () => {
    const { id } = await makeOrganization(server, 'brief');
    await act(await makeWorkspace(server, 'brief', 'a'), 'lock');
    expect(await readLocked('brief')).toEqual(['a']);
    expectStatus(await server.delete('/api/v2/organizations/brief'), 204);
    expect(await server.database.rows(sql`select from workspace_locks where organization = ${id}`)).toEqual([]);
  });

  it('are filled by the migration, and again by the rebuild after an upgrade', async () => {
    const rows = await readRows();
    expect(rows.length).toBeGreaterThan(1);
    await server.database.rows(sql`delete from workspace_locks`);
    const text = await readFile(join(import.meta.dirname, 'sql', '011_workspace_locks.sql'), 'utf8');
    await server.database.rows(sql.raw(text.slice(text.indexOf('insert into'))));
    expect(await readRows()).toEqual(rows);
    // A process of the earlier version has locked a workspace, and unlocked another one.
    await server.database.rows(sql`update workspace_locks set workspace = 'ws-unlocked' where workspace = (
      select min(workspace) from workspace_locks)`);
    const [view] = listViews([workspacesDefinition]);
    if (!view) throw new Error('the module has no view');
    await rebuildView(server.store, view, { now: server.runtime.clock.now(), pace: { page: 10, rest: 0 } });
    expect(await readRows()).toEqual(rows);
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });
});

/**
 * Counts updates in place. The statistics of earlier transactions that the connection has not reported yet are
 * included.
 */
const UPDATED = sql`select pg_stat_get_xact_tuples_hot_updated('views.workspaces'::regclass) as rows`;

it.each([
  // These events are not in the log, so the tests above come first.
  ['WorkspaceUpdated', { changes: { description: 'what for', autoApply: true } }],
  ['WorkspaceLocked', { holder: { id: 'user-1', type: 'users', name: 'ada' }, reason: '' }],
  ['WorkspaceUnlocked', { holder: null, forced: true }],
])('%s, a frequent event, changes no index of the workspaces', async (type, data) => {
  const stream = await makeWorkspace(server, 'acme', type.toLowerCase());
  const event = {
    type,
    data,
    stream,
    organization: 'org-none',
    time: '2026-01-02T03:04:05.000Z',
  } as unknown as RecordedEvent;
  const results = await server.database.transaction([
    UPDATED,
    ...projectEvent(workspaces as unknown as Projection, event),
    UPDATED,
  ]);
  const [before, after] = [results[0], results.at(-1)].map((rows) => rows?.[0]?.['rows'] as number);
  expect(after).toBe((before as number) + 1);
});

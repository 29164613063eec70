import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projectEvent, sql, type Projection, type RecordedEvent } from '#kernel';
import { makeOrganization, makeWorkspace } from '../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../test/support/server.js';
import { workspaces } from './workspaces.projection.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

/**
 * Counts updates in place. The statistics of earlier transactions that the connection has not reported yet are
 * included.
 */
const UPDATED = sql`select pg_stat_get_xact_tuples_hot_updated('views.workspaces'::regclass) as rows`;

it.each([
  ['WorkspaceUpdated', { changes: { description: 'what for', autoApply: true } }],
  ['WorkspaceLocked', { holder: { id: 'user-1', type: 'users', name: 'ada' }, reason: '' }],
  ['WorkspaceUnlocked', { holder: null, forced: true }],
])('%s, a frequent event, changes no index', async (type, data) => {
  const stream = await makeWorkspace(server, 'acme', type.toLowerCase());
  const event = { type, data, stream, time: '2026-01-02T03:04:05.000Z' } as unknown as RecordedEvent;
  const results = await server.database.transaction([
    UPDATED,
    ...projectEvent(workspaces as unknown as Projection, event),
    UPDATED,
  ]);
  const [before, after] = [results[0], results.at(-1)].map((rows) => rows?.[0]?.['rows'] as number);
  expect(after).toBe((before as number) + 1);
});

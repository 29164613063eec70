import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPruningJob, findTrailLog } from '#activity/audit-trail';
import { sql } from '#platform/kernel';
import { act, createAuditedOrganization } from '../support/audited-organization.js';
import { AdjustableClock } from '../support/clocks.js';
import { waitForFollowers } from '../support/event-log.js';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';
import { moduleDefinitions } from '../../apps/modules.js';
import { createLeafPruningJob } from '../../libs/activity/audit-trail-log/retention/leaf-pruning.job.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const clock = new AdjustableClock();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
});
afterAll(() => server.close());

it('deletes leaves of pruned entries that a complete tile contains, and no others', async () => {
  const { id, workspace } = await createAuditedOrganization(server, 'mill');
  const events = Array.from({ length: 400 }, () => ({ type: 'WorkspaceUntagged', data: { keys: ['no'] } }));
  const context = { id: 'user-1', type: 'users', name: 'ada' };
  await server.store.append([{ stream: workspace, organization: id, expected: 'any', events }], {
    accessor: context,
    auth: 'Client',
    impersonator: null,
    request: { id: null, address: null, userAgent: null },
    correlation: '',
    causation: null,
  });
  await waitForFollowers(server.store, 'audit_trail');
  const prune = () => runJobOnce(createLeafPruningJob(server.database));
  const listIndexes = async (): Promise<readonly number[]> => {
    const rows = await server.database.rows<{ index: number }>(
      sql`select index from audit_trail.leaves where organization = ${id} order by index`,
    );
    return rows.map(({ index }) => index);
  };
  const all = await listIndexes();
  await server.database.rows(sql`
    insert into audit_trail.tiles (organization, level, index, hashes, root)
    select organization, 0, 0, string_agg(leaf, ''::bytea order by index), sha256('the root of the tile')
      from audit_trail.leaves where organization = ${id} and index < 256 group by organization`);
  expect(await prune()).toBe(0);

  clock.offsetMs = 14.5 * DAY_MS;
  await act(server, workspace, 'lock');
  await waitForFollowers(server.store, 'audit_trail');
  await runJobOnce(createPruningJob(server.database, clock));
  expect(await prune()).toBe(256);
  expect(await prune()).toBe(0);
  expect(await listIndexes()).toEqual([...all.slice(256), all.length]);
  expect(await findTrailLog(server.store, id)).toMatchObject({ pruned: 256, leaves: all.length + 1 });
  await expectViewsMatchLog(server, moduleDefinitions);
});

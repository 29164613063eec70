import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql, type Message } from '#platform/kernel';
import { listViews, rebuildView, verifyView, type RebuildableView } from '#storage/event-store';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { createAuditedOrganization, type AuditedOrganization } from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createAuditTrailDefinition } from '../audit-trail.module.js';
import { createPruningJob } from '../retention/pruning.job.js';
import { DAY_MS, listIds, listStoredEntries, readTrail, requestTrail } from '../spec.js';
import { ENTRIES_PER_BLOCK } from './trail-blocks.js';

let server: TestServer;
let view: RebuildableView;
const clock = new AdjustableClock();

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
  const [auditTrailView] = listViews([createAuditTrailDefinition(server.store.kinds)]);
  if (!auditTrailView) throw new Error('the audit trail has no view');
  view = auditTrailView;
});
afterAll(() => server.close());

const context = {
  accessor: { id: 'user-1', type: 'users', name: 'ada' },
  auth: 'Client',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: '',
  causation: null,
} as const;

/** Appends events of two types in turns. Each adds an entry about the workspace. */
const appendEntries = async ({ id, workspace }: AuditedOrganization, count: number): Promise<void> => {
  const events: Message[] = Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? { type: 'WorkspaceUntagged', data: { keys: ['no'] } }
      : { type: 'WorkspaceUnlocked', data: { holder: { id: 'user-1', type: 'users', name: 'ada' }, forced: false } },
  );
  await server.store.append([{ stream: workspace, organization: id, expected: 'any', events }], context);
  await waitForFollowers(server.store, 'audit_trail');
};

const prune = () => runJobOnce(createPruningJob(server.database, clock));
const pass = (days: number): void => void (clock.offsetMs += days * DAY_MS);

const listBlocks = async ({ id }: AuditedOrganization): Promise<readonly number[]> => {
  const rows = await server.database.rows<{ block: number }>(
    sql`select distinct block from audit_trail_blocks where organization = ${id} order by block`,
  );
  return rows.map(({ block }) => block);
};

/** Returns the ids of shown entries with an action, newest first, by a search of all stored entries. */
const listShownIds = async ({ id }: AuditedOrganization, action: string): Promise<readonly string[]> => {
  const since = new Date(clock.now().getTime() - 14 * DAY_MS).toISOString();
  const entries = await listStoredEntries(
    server.database,
    sql`e.organization = ${id} and e.action = ${action} and e.timestamp >= ${since}::timestamptz`,
  );
  return entries.map((entry) => entry.id).toReversed();
};

/** Reads all entries with an action by page numbers, and again after cursors. */
const readBoth = async ({ reader }: AuditedOrganization, action: string): Promise<readonly (readonly string[])[]> => {
  const filter = { 'filter[action]': action };
  const pages = [];
  for (let page = 1, more = true; more; page += 1) {
    const { data, pagination } = await readTrail(reader, { ...filter, page: String(page), 'page[size]': '90' });
    pages.push(...data.map(({ id }) => id));
    more = pagination.next_page !== null;
  }
  const ascending: string[] = [];
  for (let after = '', more = true; more;) {
    const next = await readTrail(reader, { ...filter, after, 'page[size]': '70' });
    ascending.push(...listIds(next));
    ({ more = false, next_after: after } = next.pagination as unknown as { more: boolean; next_after: string });
  }
  return [pages, ascending.toReversed()];
};

it('filters find all kept entries of several days before and after blocks are pruned, verified and rebuilt', async () => {
  const trail = await createAuditedOrganization(server, 'mill');
  const expectComplete = async (): Promise<void> => {
    expect(await prune()).toBeGreaterThanOrEqual(0);
    for (const action of ['unlock', 'update']) {
      const expected = await listShownIds(trail, action);
      expect(await readBoth(trail, action)).toEqual([expected, expected]);
    }
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
  };
  await appendEntries(trail, 600);
  pass(10);
  await appendEntries(trail, 300);
  expect(await listBlocks(trail)).toEqual([]);
  await expectComplete();
  // The first entries are pruned before their block is complete.
  pass(5);
  expect(await prune()).toBeGreaterThan(500);
  await appendEntries(trail, 1_700);
  expect(await listBlocks(trail)).toEqual([0, 1]);
  await expectComplete();
  await rebuildView(server.store, view, { now: clock.now() });
  await expectComplete();
  await appendEntries(trail, 800);
  await expectComplete();
  // The whole first block is pruned, in the middle of which a day began.
  pass(13);
  await appendEntries(trail, 10);
  pass(2);
  await expectComplete();
  expect(await listBlocks(trail)).toEqual([]);
});

it('the rows of a block are deleted with its last entry', async () => {
  const trail = await createAuditedOrganization(server, 'forge');
  await waitForFollowers(server.store, 'audit_trail');
  const state = await server.database.row<{ length: number }>(
    sql`select length from audit_trails where organization = ${trail.id}`,
  );
  await appendEntries(trail, ENTRIES_PER_BLOCK - (state?.length ?? 0));
  pass(15);
  await prune();
  // The newest expired entry stays, here the last one of the block.
  expect(await listBlocks(trail)).toEqual([0]);
  await appendEntries(trail, 10);
  pass(15);
  await prune();
  expect(await listBlocks(trail)).toEqual([]);
});

it('a reader with a filter gets all entries or an error while entries are pruned', async () => {
  const trail = await createAuditedOrganization(server, 'kiln');
  await appendEntries(trail, 1_500);
  pass(5);
  await appendEntries(trail, 1_500);
  const read = (after: string) =>
    requestTrail(trail.reader, { after, 'filter[action]': 'unlock', 'page[size]': '400' });
  const first = (await read('')).body;
  expect(first.data).toHaveLength(400);
  pass(10);
  await prune();
  const { status, body } = await read(first.pagination.next_after);
  expect([status, body.errors[0].meta]).toEqual([422, { gone: true }]);
  const ids: string[] = [];
  for (let after = '', more = true; more;) {
    const next = (await read(after)).body;
    ids.push(...next.data.map(({ id }: { id: string }) => id));
    ({ more, next_after: after } = next.pagination);
  }
  expect(ids).toEqual((await listShownIds(trail, 'unlock')).toReversed());
  expect(ids).toHaveLength(750);
});

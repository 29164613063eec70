import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type Message } from '#platform/kernel';
import { rebuildView, verifyView, listViews, type RebuildableView } from '#storage/event-store';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { act, createAuditedOrganization } from '../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { makeOrganization } from '../../../test/support/seeds.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { createPruningJob } from './retention/pruning.job.js';
import { createAuditTrailDefinition } from './audit-trail.module.js';
import { listActions, DAY_MS, listIds, readTrail } from './spec.js';

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

/** Runs one round of the pruning job. Returns how many entries it deleted. */
const prune = () => runJobOnce(createPruningJob(server.database, clock));

const stored = () => server.database.rows(sql`select * from audit_trail_entries order by organization, timestamp`);
const context = {
  accessor: { id: 'user-1', type: 'users', name: 'ada' },
  auth: 'Client',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: '',
  causation: null,
} as const;

/** Appends far more events than a batch contains, all with the same time. */
const tagOften = async (organization: string, workspace: string): Promise<void> => {
  const events: Message[] = Array.from({ length: 1_200 }, () => ({
    type: 'WorkspaceUntagged',
    data: { keys: ['no'] },
  }));
  await server.store.append([{ stream: workspace, organization, expected: 'any', events }], context);
};

describe('the view of the audit trail', () => {
  it('contains each event of the log once, and equals the rebuilt view including timestamps', async () => {
    const { id, workspace } = await createAuditedOrganization(server, 'mill');
    await tagOften(id, workspace);
    await makeOrganization(server, 'barn');
    await waitForFollowers(server.store, 'audit_trail');
    const before = await stored();
    // Everything that happened so far has an entry. Organizations that are created have one at the site too.
    const logged = await server.database.rows(sql`
      select id from event_store.events
      union all
      select id from event_store.events where type = 'OrganizationCreated'`);
    expect(before.map((row) => row['id']).toSorted()).toEqual(logged.map((row) => row['id']).toSorted());
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
    await rebuildView(server.store, view, { now: new Date() });
    expect(await stored()).toEqual(before);
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
  });

  it('stores the names of actors whose names differ from their ids', async () => {
    const { id, workspace, reader } = await createAuditedOrganization(server, 'kiln');
    for (const accessor of [
      { id: 'run-1', type: 'runs', name: 'run-1' },
      { id: 'team-1', type: 'teams', name: 'core' },
    ]) {
      const events = [{ type: 'WorkspaceUntagged', data: { keys: ['no'] } }];
      await server.store.append([{ stream: workspace, organization: id, expected: 'any', events }], {
        ...context,
        accessor,
      });
    }
    await waitForFollowers(server.store, 'audit_trail');
    const actors = await server.database.rows<{ name: string; accessor: string }>(
      sql`select name, accessor from audit_trail_actors where organization = ${id}`,
    );
    expect(actors.filter(({ accessor }) => !accessor.startsWith('user-'))).toEqual([
      { name: 'core', accessor: 'team-1' },
    ]);
    for (const actor of ['run-1', 'core'])
      expect((await readTrail(reader, { 'filter[actor]': actor })).data).toHaveLength(1);
  });

  it('continues after a rebuild where it was', async () => {
    const { workspace, reader } = await createAuditedOrganization(server, 'forge');
    const before = listIds(await readTrail(reader));
    await rebuildView(server.store, view, { now: new Date() });
    await act(server, workspace, 'lock');
    expect(listIds(await readTrail(reader)).slice(1)).toEqual(before);
  });

  it('shows a difference if somebody changed an entry', async () => {
    await waitForFollowers(server.store, 'audit_trail');
    await server.database.rows(
      sql`update audit_trail_entries set actor_name = 'eve' where resource_type = 'organization'`,
    );
    const [difference] = await verifyView(server.store, view, clock.now());
    expect(difference?.table).toBe('audit_trail_entries');
    await rebuildView(server.store, view, { now: new Date() });
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
  });

  it('loses only expired entries to the pruning job; the log keeps their events and timestamps still increase', async () => {
    const { workspace, reader } = await createAuditedOrganization(server, 'dairy');
    await readTrail(reader);
    expect(await prune()).toBe(0);
    const old = (await stored()).length;
    const trails = (await server.database.rows(sql`select 1 from audit_trails`)).length;
    clock.offsetMs = 14.5 * DAY_MS;
    await act(server, workspace, 'lock');
    await readTrail(reader);
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
    // The last expired entry of each audit trail stays hidden but stored, because a cursor may refer to it.
    expect(await prune()).toBe(old - trails);
    expect(listActions(await readTrail(reader))).toEqual(['workspace lock']);
    expect(await stored()).toHaveLength(trails + 1);
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
    // Timestamps increase even if the clock is set back.
    clock.offsetMs = 0;
    await act(server, workspace, 'unlock');
    clock.offsetMs = 14.5 * DAY_MS;
    const [unlocked, locked] = (await readTrail(reader)).data;
    const next = Date.parse(locked?.timestamp ?? '') + 1;
    // No timestamp is a full second.
    expect(Date.parse(unlocked?.timestamp ?? '')).toBe(next % 1_000 === 0 ? next + 1 : next);
  });

  it('is pruned by a job, which also deletes stored page bounds of readers', async () => {
    const { reader } = await createAuditedOrganization(server, 'orchard');
    await readTrail(reader, { 'page[size]': '1' });
    const storedBounds = () => server.database.rows(sql`select 1 from audit_trail.walks`);
    expect(await storedBounds()).not.toEqual([]);
    clock.offsetMs += 15 * DAY_MS;
    await prune();
    expect(await storedBounds()).toEqual([]);
    expect(await prune()).toBe(0);
  });
});

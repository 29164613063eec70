import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FollowerRunner, listViews, rebuildView, verifyView, type RebuildableView } from '#storage/event-store';
import { act, createAuditedOrganization } from '../../../../test/support/audited-organization.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { tamper as tamperWith } from '../../../../test/support/trail-signing.js';
import { createAuditTrailFollower, createLeafRecorder } from '../audit-trail.follower.js';
import { createAuditTrailDefinition } from '../audit-trail.module.js';
import { createMissingLeavesJob } from './missing-leaves.job.js';

let server: TestServer;
let view: RebuildableView;
let organization: string;
let workspace: string;
let ids: readonly string[];

const listLeafIds = async (): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ id: string }>(
    sql`select id from audit_trail.leaves where organization = ${organization} order by index`,
  );
  return rows.map(({ id }) => id);
};

/** Runs statements as an administrator of the database: no trigger stops them. */
const tamper = async (...statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await tamperWith(server.database, sql.raw(statement));
};

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  const [auditTrailView] = listViews([createAuditTrailDefinition(server.store.kinds)]);
  if (!auditTrailView) throw new Error('the audit trail has no view');
  view = auditTrailView;
  ({ id: organization, workspace } = await createAuditedOrganization(server, 'mill'));
  await act(server, workspace, 'lock');
  await waitForFollowers(server.store, 'audit_trail');
  ids = await listLeafIds();
  await server.database.rows(sql`create table public.kept_leaves as select * from audit_trail.leaves`);
  await server.database.rows(sql`create table public.kept_events as select * from event_store.events`);
});
beforeEach(() =>
  tamper(
    'truncate audit_trail.leaves',
    'insert into audit_trail.leaves select * from public.kept_leaves',
    'update event_store.events e set data = k.data from public.kept_events k where k.id = e.id and k.data <> e.data',
  ),
);
afterAll(() => server.close());

const AT = (index: number): string => `organization = '${organization}' and index = ${index}`;
const LOG_DIFFERS = (index: number, what: string): string =>
  `the log of the audit trail of ${organization} differs at index ${index}: ${what}`;

describe('verify and rebuild stop at the first entry', () => {
  const expectDifference = async (message: string): Promise<void> => {
    const differences = await verifyView(server.store, view, new Date());
    expect(differences).toEqual([{ table: 'audit_trail', missing: [], surplus: [], durable: message }]);
    await expect(rebuildView(server.store, view, { now: new Date() })).rejects.toThrow(message);
  };

  it('whose leaf was changed', async () => {
    await tamper(`update audit_trail.leaves set leaf = sha256('other') where ${AT(2)} or ${AT(4)}`);
    await expectDifference(LOG_DIFFERS(2, `the entry ${ids[2]} gives another leaf`));
  });

  it('whose commitments were changed', async () => {
    await tamper(`update audit_trail.leaves set commitments = sha256('other') where ${AT(1)}`);
    await expectDifference(LOG_DIFFERS(1, `the entry ${ids[1]} gives another leaf`));
  });

  it('whose event was changed', async () => {
    await tamper(`update event_store.events set data = jsonb_set(data, '{name}', '"attic"') where id = '${ids[0]}'`);
    await expectDifference(LOG_DIFFERS(0, `the entry ${ids[0]} gives another leaf`));
  });

  it('whose leaf is missing', async () => {
    await tamper(`delete from audit_trail.leaves where ${AT(3)}`);
    await expectDifference(LOG_DIFFERS(3, `the leaf of the entry ${ids[3]} is missing`));
  });

  it('whose leaf is missing at the end', async () => {
    const last = ids.length - 1;
    await tamper(`delete from audit_trail.leaves where ${AT(last)}`);
    await expectDifference(LOG_DIFFERS(last, `the leaf of the entry ${ids[last]} is missing`));
  });

  it('whose leaf has moved', async () => {
    await tamper(
      `update audit_trail.leaves set index = -1 where ${AT(1)}`,
      `update audit_trail.leaves set index = 1 where ${AT(2)}`,
      `update audit_trail.leaves set index = 2 where ${AT(-1)}`,
    );
    await expectDifference(LOG_DIFFERS(1, `the leaf belongs to the entry ${ids[2]} instead of ${ids[1]}`));
  });

  it('that has no event', async () => {
    const other = '0199f2c4-7d3e-7a51-9c1b-2f4f7f0e5b11';
    await tamper(
      `insert into audit_trail.leaves select organization, ${ids.length}, '${other}', leaf, null
         from audit_trail.leaves where ${AT(0)}`,
    );
    await expectDifference(LOG_DIFFERS(ids.length, `the leaf of ${other} belongs to no entry`));
  });
});

describe('the table of leaves', () => {
  it.each([
    ['an update', `update audit_trail.leaves set leaf = leaf`, 'leaves are never changed'],
    ['an emptying', `truncate audit_trail.leaves`, 'leaves are never changed'],
    ['a deletion before the entry has expired', `delete from audit_trail.leaves`, 'its entry has not expired'],
  ])('refuses %s', async (_, statement, message) => {
    await expect(server.database.rows(sql.raw(statement))).rejects.toThrow(message);
  });

  it('gets each leaf once although two projectors run, one of them starts again, and earlier leaves are missing', async () => {
    const names = ['lock', 'unlock'] as const;
    await act(server, workspace, 'unlock');
    // As a process of an earlier version leaves it, which writes no leaves.
    await waitForFollowers(server.store, 'audit_trail');
    await tamper(
      `delete from audit_trail.leaves where organization = '${organization}' and index >= ${ids.length - 2}`,
    );
    for (let round = 0; round < 4; round += 1) {
      const runner = new FollowerRunner(server.store, createAuditTrailFollower(server.store.kinds), quiet);
      runner.start();
      for (const name of names) await act(server, workspace, name);
      await runner.stop();
    }
    await waitForFollowers(server.store, 'audit_trail');
    const entries = await server.database.rows<{ id: string }>(
      sql`select id from audit_trail_entries where organization = ${organization} order by ordinal`,
    );
    expect(await listLeafIds()).toEqual(entries.map(({ id }) => id));
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
  });

  it('gets leaves that a process of an earlier version did not write, although the trail has no new entry', async () => {
    await tamper(
      `delete from audit_trail.leaves where organization = '${organization}' and index >= ${ids.length - 2}`,
    );
    const job = createMissingLeavesJob(server.store, createLeafRecorder());
    expect(await runJobOnce(job)).toBeGreaterThanOrEqual(2);
    expect(await runJobOnce(job)).toBe(0);
    expect((await listLeafIds()).slice(0, ids.length)).toEqual(ids);
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
  });

  it('gets such leaves although another log has lost entries without leaves', async () => {
    const lost = await createAuditedOrganization(server, 'barn');
    await waitForFollowers(server.store, 'audit_trail');
    // Sorts before all others, so that the job finds it first.
    await tamper(
      `delete from audit_trail.leaves where organization = '${lost.id}' and index > 0`,
      `delete from audit_trail_entries where organization = '${lost.id}' and ordinal > 1`,
      ...['audit_trail_entries', 'audit_trails', 'audit_trail.logs', 'audit_trail.leaves'].map(
        (table) => `update ${table} set organization = 'org-0' where organization = '${lost.id}'`,
      ),
      `delete from audit_trail.leaves where organization = '${organization}' and index >= ${ids.length - 2}`,
    );
    const job = createMissingLeavesJob(server.store, createLeafRecorder());
    await expect(runJobOnce(job)).rejects.toThrow(
      'the log of the audit trail of org-0 differs at index 1: the leaf is missing, and so is its entry',
    );
    expect((await listLeafIds()).slice(0, ids.length)).toEqual(ids);
    await tamper(
      ...['audit_trail_entries', 'audit_trails', 'audit_trail.logs', 'audit_trail.leaves'].map(
        (table) => `delete from ${table} where organization = 'org-0'`,
      ),
    );
  });
});

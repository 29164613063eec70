import { createHmac, createHash, hkdfSync } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import { computeCommitment, computeLeaf } from '#packages/trail-verifier';
import { listViews, rebuildView, verifyView, type RebuildableView } from '#storage/event-store';
import { act, createAuditedOrganization } from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { makeMember } from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { tamper } from '../../../../test/support/trail-signing.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createAuditTrailDefinition } from '../audit-trail.module.js';
import { createPruningJob } from '../retention/pruning.job.js';
import { toTrailSettingsStream } from '../settings/audit-trail-settings.js';
import { listStoredEntries } from '../spec.js';
import { createLogStartsJob } from './log-starts.job.js';
import { findTrailLog, openEntries, type OpenedEntry } from './opened-entries.reader.js';
import { TRIM_LEAVES, TRIM_LOGS } from './trail-logs.queries.js';

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

type LeafRow = {
  readonly index: number;
  readonly id: string;
  readonly leaf: Buffer;
  readonly commitments: Buffer | null;
};

const listLeaves = (organization: string): Promise<LeafRow[]> =>
  server.database.rows<LeafRow>(
    sql`select index, id, leaf, commitments from audit_trail.leaves where organization = ${organization} order by index`,
  );

/** Opens all stored entries of an organization. */
const openAll = async (organization: string, clientDetails = true): Promise<readonly OpenedEntry[]> => {
  await waitForFollowers(server.store, 'audit_trail');
  const log = await findTrailLog(server.store, organization);
  if (!log) throw new Error(`${organization} has no log`);
  const entries = await listStoredEntries(server.database, sql`e.organization = ${organization}`);
  const ordinals = await server.database.rows<{ ordinal: number }>(
    sql`select ordinal from audit_trail_entries where organization = ${organization} order by ordinal`,
  );
  const numbered = entries.map((entry, n) => ({ ordinal: ordinals[n]?.ordinal ?? 0, entry }));
  return openEntries(server.store, log, numbered, { clientDetails });
};

/** Verifies openings like a reader that knows the format only: each salt opens its commitment, and all give the leaf. */
const expectOpenings = (opened: readonly OpenedEntry[]): void => {
  for (const { entry, salt, commitments, salts, leaf } of opened) {
    expect(computeLeaf({ salt, entry, commitments })).toEqual(leaf);
    for (const [pointer, valueSalt] of Object.entries(salts)) {
      const value = pointer
        .slice(1)
        .split('/')
        .reduce((tree: unknown, name) => (tree as Readonly<Record<string, unknown>>)[name], entry);
      expect(computeCommitment(valueSalt, value)).toEqual(commitments[pointer]);
    }
  }
};

/** Locks a workspace. Unlike fetch, the client of Node sends no user agent. */
const lockWithoutUserAgent = async (workspace: string): Promise<void> => {
  const sent = request(`${server.url}/api/v2/workspaces/${workspace}/actions/lock`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.adminToken}` },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
};

describe('the log of an audit trail', () => {
  it('begins with the first entry of an organization, and has one leaf for each entry in the order of the trail', async () => {
    const { id, workspace, reader } = await createAuditedOrganization(server, 'mill');
    await act(server, workspace, 'lock');
    const opened = await openAll(id);
    const leaves = await listLeaves(id);
    expect(leaves.map(({ index }) => index)).toEqual(leaves.map((_, n) => n));
    const page = await reader.get('/api/v2/organization/audit-trail?page[size]=100');
    const { data } = page.body as { data: { id: string }[] };
    expect(leaves.map((leaf) => leaf.id)).toEqual(data.map((entry) => entry.id).toReversed());
    expect(opened.map(({ entry }) => entry)).toEqual(data.toReversed());
    expect(opened.map(({ leaf }) => leaf)).toEqual(leaves.map(({ leaf }) => leaf));
    expectOpenings(opened);
    expect(await server.database.rows(sql`select 1 from audit_trail.logs where organization = 'site'`)).toEqual([]);
  });

  it('has leaves that follow from the entry, the secret of the log and the keys of people', async () => {
    const { id } = await createAuditedOrganization(server, 'kiln');
    const [first] = await openAll(id);
    if (!first) throw new Error('the log is empty');
    const log = await findTrailLog(server.store, id);
    const secret = server.store.createEnvelope('audit trail logs').open(id, log?.secret as Buffer);
    const entry = first.entry as { id: string; auth: { accessor_id: string; description: string } };
    const person = await server.database.row<{ key: Buffer }>(
      sql`select key from event_store.person_keys where person = ${entry.auth.accessor_id}`,
    );
    const key = server.store.createEnvelope('person keys').open(entry.auth.accessor_id, person?.key as Buffer);
    const hmac = (of: Buffer, text: string): Buffer => createHmac('sha256', of).update(text).digest();
    expect(first.salt).toEqual(hmac(secret, entry.id));
    const valueSalt = hmac(Buffer.from(hkdfSync('sha256', key, '', 'salts', 32)), `${entry.id}/auth/description`);
    expect(first.salts['/auth/description']).toEqual(valueSalt);
    const commitment = createHash('sha256')
      .update(Buffer.concat([valueSalt, Buffer.from(JSON.stringify(entry.auth.description))]))
      .digest();
    expect(first.commitments['/auth/description']).toEqual(commitment);
    expect(Object.keys(first.commitments)).toEqual(['/auth/description', '/request/address', '/request/user_agent']);
  });

  it('withholds the details of clients that the setting hides, and still gives the same leaves', async () => {
    const { id, workspace } = await createAuditedOrganization(server, 'forge');
    await lockWithoutUserAgent(workspace);
    const opened = await openAll(id, false);
    expect(opened.flatMap(({ salts }) => Object.keys(salts)).filter((name) => name.startsWith('/request/'))).toEqual(
      [],
    );
    const complete = await openAll(id);
    expect(opened.map(({ entry }) => (entry as { request: object }).request)).toEqual(
      complete.map(({ entry }) => {
        const { request: client } = entry as { request: Readonly<Record<string, string | null>> };
        return Object.fromEntries(Object.entries(client).filter(([name, value]) => name === 'id' || value === null));
      }),
    );
    // Null is not committed, so the leaf contains it.
    expect(opened.at(-1)?.entry).toMatchObject({ request: { user_agent: null }, resource: { action: 'lock' } });
    expectOpenings(opened);
    expect(opened.map(({ leaf }) => leaf)).toEqual(complete.map(({ leaf }) => leaf));
  });

  it('keeps its leaves, and loses the salts of a person, when the person is forgotten', async () => {
    const { id } = await createAuditedOrganization(server, 'dairy');
    const member = await makeMember(server, 'dairy', 'zoe');
    const before = await openAll(id);
    const leaves = await listLeaves(id);
    const response = await server.delete(`/api/v2/admin/users/${member.id}`);
    expect([200, 204]).toContain(response.status);
    await waitForFollowers(server.store, 'audit_trail');
    const after = await openAll(id);
    expect((await listLeaves(id)).slice(0, leaves.length)).toEqual(leaves);
    expect(after.slice(0, before.length).map(({ leaf }) => leaf)).toEqual(before.map(({ leaf }) => leaf));
    const count = (opened: readonly OpenedEntry[]): number =>
      opened.slice(0, before.length).flatMap(({ salts }) => Object.keys(salts)).length;
    expect(count(after)).toBeLessThan(count(before));
    expectOpenings(after);
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
    await rebuildView(server.store, view, { now: clock.now() });
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
  });

  it('loses no entry without a leaf when entries expire, and gets its leaf afterwards', async () => {
    const { id, workspace } = await createAuditedOrganization(server, 'barn');
    await act(server, workspace, 'lock');
    await act(server, workspace, 'unlock');
    await waitForFollowers(server.store, 'audit_trail');
    const all = await listLeaves(id);
    // A process of an earlier version writes no leaves.
    const firstMissing = all.length - 2;
    await tamper(
      server.database,
      sql`delete from audit_trail.leaves where organization = ${id} and index >= ${firstMissing}`,
    );
    clock.offsetMs += 15 * 24 * 60 * 60 * 1_000;
    await runJobOnce(createPruningJob(server.database, clock));
    const [first] = await server.database.rows<{ ordinal: number }>(
      sql`select min(ordinal) as ordinal from audit_trail_entries where organization = ${id}`,
    );
    expect(first?.ordinal).toBe(firstMissing + 1);
    await act(server, workspace, 'lock');
    await waitForFollowers(server.store, 'audit_trail');
    const leaves = await listLeaves(id);
    expect(leaves.slice(0, all.length)).toEqual(all);
    expect(leaves).toHaveLength(all.length + 1);
  });

  it('begins again after a restore of a position before the leaves that were pruned, and others continue', async () => {
    const [{ id }, other] = [
      await createAuditedOrganization(server, 'silo'),
      await createAuditedOrganization(server, 'byre'),
    ];
    await waitForFollowers(server.store, 'audit_trail');
    const leaves = await listLeaves(other.id);
    await tamper(
      server.database,
      sql`update audit_trail.logs set pruned = case organization when ${id} then 256 else 1 end
           where organization in (${id}, ${other.id})`,
    );
    await tamper(server.database, sql`delete from audit_trail.leaves where organization = ${id}`);
    await server.database.transaction([TRIM_LEAVES, TRIM_LOGS]);
    expect(await findTrailLog(server.store, id)).toBeNull();
    expect(await listLeaves(other.id)).toEqual(leaves);
    expect(await findTrailLog(server.store, other.id)).toMatchObject({ pruned: 1, leaves: leaves.length });
    await runJobOnce(createLogStartsJob(server.store, server.runtime.ids));
    await waitForFollowers(server.store, 'audit_trail');
    expect(await findTrailLog(server.store, id)).toMatchObject({ pruned: 0, leaves: 1 });
  });

  it('begins although that of an organization before it cannot', async () => {
    for (const name of ['stable', 'coop']) await createAuditedOrganization(server, name);
    await waitForFollowers(server.store, 'audit_trail');
    const rows = await server.database.rows<{ id: string }>(
      sql`select id from organizations where name in ('stable', 'coop') order by id`,
    );
    const [broken = '', sound = ''] = rows.map(({ id }) => id);
    await tamper(
      server.database,
      sql`update audit_trail.logs set pruned = 256 where organization in (${broken}, ${sound})`,
    );
    await tamper(server.database, sql`delete from audit_trail.leaves where organization in (${broken}, ${sound})`);
    await server.database.transaction([TRIM_LEAVES, TRIM_LOGS]);
    const job = createLogStartsJob(server.store, server.runtime.ids);
    const load = server.store.load.bind(server.store);
    const loading = jest
      .spyOn(server.store, 'load')
      .mockImplementation((stream, decider) =>
        stream === toTrailSettingsStream(broken) ? Promise.reject(new Error('damaged')) : load(stream, decider),
      );
    await expect(runJobOnce(job)).rejects.toThrow('1 logs could not be started');
    loading.mockRestore();
    await waitForFollowers(server.store, 'audit_trail');
    expect(await findTrailLog(server.store, sound)).toMatchObject({ leaves: 1 });
    expect(await findTrailLog(server.store, broken)).toBeNull();
    expect(await runJobOnce(job)).toBe(1);
  });
});

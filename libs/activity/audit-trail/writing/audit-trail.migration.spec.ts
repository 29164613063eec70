import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type Sql } from '#platform/kernel';
import { canonicalize } from '#packages/trail-verifier';
import { RandomIds } from '#platform/host';
import type { DatabaseSession } from '#platform/postgres';
import { EVENT_CONTEXT, listViews, rebuildView, verifyView, type RebuildableView } from '#storage/event-store';
import { act, createAuditedOrganization } from '../../../../test/support/audited-organization.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { makeOrganization, makeWorkspace } from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createAuditTrailDefinition } from '../audit-trail.module.js';
import { createLogStartsJob } from '../log/log-starts.job.js';
import { listStoredEntries, readLines, readTrail } from '../spec.js';

const statementsOf = (text: string): readonly Sql[] =>
  text
    .replaceAll(/--.*$/gm, '')
    // A block of code contains semicolons.
    .split(/;(?=(?:[^$]*\$\$[^$]*\$\$)*[^$]*$)/)
    .filter((statement) => statement.trim() !== '')
    .map((statement) => sql.raw(statement));

const migration = async (name: string): Promise<readonly Sql[]> =>
  statementsOf(await readFile(join(import.meta.dirname, '../sql', `${name}.sql`), 'utf8'));

const listIndexes = (session: DatabaseSession) =>
  session.run(sql`
    select pg_get_indexdef(indexrelid) as definition, indisprimary as "isPrimary" from pg_index
     where indrelid = 'views.audit_trail_entries'::regclass order by 1`);

const countWholeEntries = async (session: DatabaseSession): Promise<unknown> =>
  (await session.run(sql`select count(entry) as count from views.audit_trail_entries`))[0]?.['count'];

/** Replaces the tables by those of the first migration, with entries as the first version wrote them. */
const restoreFirstVersion = async (server: TestServer, session: DatabaseSession): Promise<void> => {
  const entries = (await listStoredEntries(server.database)).map((entry) => ({
    ...entry,
    request: { id: entry.request.id },
  }));
  const tables = ['entries', 'actors', 'blocks', 'settings'].map((name) => `views.audit_trail_${name}`);
  const before = `
    create temporary table trails as select organization, open, last from views.audit_trails;
    drop table ${tables.join()}, views.audit_trails, views.audit_configurations;
    drop schema audit_trail cascade;
    update event_store.view_versions set version = 1 where view = 'audit_trail'`;
  for (const statement of statementsOf(before)) await session.run(statement);
  // The log did not have shared contexts yet.
  await session.run(sql`alter table event_store.events disable trigger user`);
  await session.run(sql`
    update event_store.events e set context = ${EVENT_CONTEXT}, shared_context = null, request = null`);
  await session.run(sql`alter table event_store.events enable trigger user`);
  for (const statement of await migration('001_audit_trail')) await session.run(statement);
  await session.run(sql`
    insert into views.audit_trail_entries (organization, timestamp, id, entry)
    select entry -> 'auth' ->> 'organization_id', (entry ->> 'timestamp')::timestamptz, (entry ->> 'id')::uuid, entry
      from jsonb_array_elements(${sql.json(entries)}::jsonb) entry`);
  await session.run(sql`insert into views.audit_trails select * from trails`);
};

describe('an audit trail of the first version', () => {
  let server: TestServer;
  let session: DatabaseSession;
  let view: RebuildableView;
  beforeAll(async () => {
    server = await startTestServer({ followers: true });
    session = await server.database.session();
    const [trail] = listViews([createAuditTrailDefinition(server.store.kinds)]);
    if (!trail) throw new Error('the audit trail has no view');
    view = trail;
  });
  afterAll(async () => {
    await session.close();
    await server.close();
  });

  it('is read as before while its migrations and its rebuild run, and then has the rows and indexes of a new one', async () => {
    const { workspace, reader, token } = await createAuditedOrganization(server, 'acme');
    await makeWorkspace(server, (await makeOrganization(server, 'rival')).name, 'one');
    await waitForFollowers(server.store, 'audit_trail');
    const indexes = await listIndexes(session);
    const read = async () => [
      await readTrail(reader),
      await readTrail(reader, { 'filter[resource-type]': 'workspace', 'filter[action]': 'create,lock,unlock' }),
      await readTrail(reader, { after: '', 'filter[resource-id]': workspace }),
      await readLines(server, token),
    ];
    const before = await read();

    await restoreFirstVersion(server, session);
    for (const name of ['002_reading', '003_configuration', '004_compact_entries', '005_trail_log'])
      for (const statement of await migration(name)) await session.run(statement);
    expect(await read()).toEqual(before);
    expect(await listIndexes(session)).not.toEqual(indexes);

    // Processes of the first version may still run, and they read whole entries.
    const old = await countWholeEntries(session);
    await act(server, workspace, 'lock');
    await act(server, workspace, 'unlock');
    const upgrading = await read();
    expect(await countWholeEntries(session)).toBe(Number(old) + 2);
    const whole = await session.run<{ entry: object }>(
      sql`select entry from views.audit_trail_entries where resource_id = ${workspace} order by ordinal desc limit 1`,
    );
    const [newest] = await server.store.personalDataCipher.openIn(whole.map(({ entry }) => entry));
    expect(newest).toEqual((await readTrail(reader)).data[0]);

    await rebuildView(server.store, view, { now: new Date() });
    expect(await countWholeEntries(session)).toBe(0);
    expect(await read()).toEqual(upgrading);
    expect(await listIndexes(session)).toEqual(indexes);
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
  });

  it('gets a log whose first entry has the number and the digest of the older entries', async () => {
    await server.database.rows(sql`update event_store.view_versions set version = 3 where view = 'audit_trail'`);
    const { id, workspace, token } = await createAuditedOrganization(server, 'smithy');
    await waitForFollowers(server.store, 'audit_trail');
    const job = createLogStartsJob(server.store, new RandomIds());
    // A process of an earlier version may still write entries.
    expect(await runJobOnce(job)).toBe(0);
    await server.database.rows(sql`update event_store.view_versions set version = 4 where view = 'audit_trail'`);
    const older = await readLines(server, token);
    // All three organizations of this file.
    expect(await Promise.all([runJobOnce(job), runJobOnce(job)]).then(([a, b]) => a + b)).toBe(3);
    await act(server, workspace, 'lock');
    const entries = await readLines(server, token);
    const masked = older.map((entry) => {
      const meta = entry.resource.meta && 'user' in entry.resource.meta ? { user: null } : {};
      return canonicalize({
        ...entry,
        auth: { ...entry.auth, description: null },
        request: { ...entry.request, address: null, user_agent: null },
        resource: { ...entry.resource, meta: entry.resource.meta && { ...entry.resource.meta, ...meta } },
      });
    });
    const [start, lock] = entries.slice(older.length);
    expect(start?.resource).toEqual({
      id,
      type: 'audit_trail_log',
      action: 'start',
      meta: {
        older_entries: older.length,
        last_older_entry: older.at(-1)?.id,
        older_digest: createHash('sha256')
          .update(masked.map((line) => `${line}\n`).join(''))
          .digest('base64'),
        former_origin: null,
        former_checkpoint: null,
      },
    });
    const leaves = await server.database.rows<{ id: string }>(
      sql`select id from audit_trail.leaves where organization = ${id} order by index`,
    );
    expect(leaves.map((leaf) => leaf.id)).toEqual([start?.id, lock?.id]);
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
    expect(await runJobOnce(job)).toBe(0);
  });
});

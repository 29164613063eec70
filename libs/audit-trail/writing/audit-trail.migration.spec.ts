import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { sql, type Sql } from '#kernel';
import { EVENT_CONTEXT, verifyView, listViews } from '#event-store';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { makeOrganization, makeWorkspace } from '../../../test/support/seeds.js';
import { startTestServer } from '../../../test/support/server.js';
import { createAuditTrailDefinition } from '../audit-trail.definition.js';

const statementsOf = (text: string): readonly Sql[] =>
  text
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '')
    .map((statement) => sql.raw(statement));

const migration = async (name: string): Promise<readonly Sql[]> =>
  statementsOf(await readFile(join(import.meta.dirname, '../sql', `${name}.sql`), 'utf8'));

it('entries from before ordinals and columns existed are migrated to the same rows as new ones', async () => {
  const server = await startTestServer({ followers: true });
  const session = await server.database.session();
  try {
    for (const name of ['acme', 'rival'])
      await makeWorkspace(server, (await makeOrganization(server, name)).name, 'one');
    await waitForFollowers(server.store, 'audit_trail');
    const tables = ['entries', 'actors', 'settings'].map((name) => `views.audit_trail_${name}`);
    const before = `
      create temporary table entries as
      select organization, timestamp, id, entry #- '{request,address}' #- '{request,user_agent}' as entry
        from views.audit_trail_entries;
      create temporary table trails as select organization, open, last from views.audit_trails;
      drop table ${tables.join()}, views.audit_trails, views.audit_configurations;
      drop schema audit_trail cascade`;
    for (const statement of statementsOf(before)) await session.run(statement);
    // The log did not have shared contexts yet.
    await session.run(sql`alter table event_store.events disable trigger user`);
    await session.run(sql`
      update event_store.events e set context = ${EVENT_CONTEXT}, shared_context = null, request = null`);
    await session.run(sql`alter table event_store.events enable trigger user`);
    for (const statement of await migration('001_audit_trail')) await session.run(statement);
    await session.run(sql`insert into views.audit_trail_entries select * from entries`);
    await session.run(sql`insert into views.audit_trails select * from trails`);
    for (const name of ['002_reading', '003_configuration'])
      for (const statement of await migration(name)) await session.run(statement);
    const [view] = listViews([createAuditTrailDefinition(server.store.kinds)]);
    if (!view) throw new Error('the audit trail has no view');
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
  } finally {
    await session.close();
    await server.close();
  }
});

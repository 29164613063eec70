import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { rebuildView, verifyView, listViews } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import { createSystemContext } from '#api/access';
import { moduleDefinitions } from '../../apps/modules.js';
import { makeOrganization, makeWorkspace } from '../support/seeds.js';
import { readableLog, readWholeLog } from '../support/event-log.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const turn = async (id: string): Promise<void> => {
  for (const verb of ['lock', 'unlock']) {
    expect((await server.post(`/api/v2/workspaces/${id}/actions/${verb}`)).status).toBe(200);
  }
};

/** Uses up transaction ids until the ids are about to gain a digit. It leaves the last few ids to the test. */
const useUpTransactionIds = async (): Promise<void> => {
  const session = await server.database.session();
  await session.run(
    sql.raw(`do $$ declare _now numeric; _end numeric; begin
      loop
        _now := pg_current_xact_id()::text::numeric;
        _end := coalesce(_end, power(10, length(_now::text)));
        commit;
        exit when _now >= _end - 8;
      end loop;
    end $$`),
  );
  await session.close();
};

/** Begins a transaction that has an id already, so that it precedes all later ones in the log. */
const beginTransaction = async (): Promise<DatabaseSession> => {
  const session = await server.database.session();
  await session.run(sql`begin`);
  await session.run(sql`select pg_current_xact_id()`);
  return session;
};

const differences = async (): Promise<unknown[]> => {
  const problems: unknown[] = [];
  for (const view of listViews(moduleDefinitions)) problems.push(...(await verifyView(server.store, view, new Date())));
  return problems;
};

const streams = async (read: typeof readWholeLog): Promise<string[]> =>
  (await read(server.store)).map(({ stream }) => stream);

describe('the order of the log', () => {
  it('is numeric: no event is skipped or read twice when transaction ids gain a digit', async () => {
    const id = await makeWorkspace(server, 'acme', 'long-lived');
    await useUpTransactionIds();
    for (let round = 0; round < 10; round += 1) await turn(id);
    const lengths = new Set((await readWholeLog(server.store)).map(({ transaction }) => transaction.length));
    expect(lengths.size).toBe(2);
    const everything = await server.database.rows<{ id: string }>(
      sql`select id from event_store.events order by position`,
    );
    for (const size of [1, 3, 7, 1_000]) {
      const read = await readableLog(server.store, { batch: size });
      // One client after the other wrote this log, so its order is also that of the positions.
      expect(read.map((event) => event.id)).toEqual(everything.map((row) => row.id));
    }
    expect(await differences()).toEqual([]);
  });

  it('puts events after those of an earlier transaction, and withholds them until that transaction ends', async () => {
    const early = await beginTransaction();
    const late = await makeWorkspace(server, 'acme', 'late');
    expect(await streams(readableLog)).not.toContain(late);
    const context = createSystemContext('test', 'test');
    await early.run(sql`select event_store.append('ws-nowhere', 0, null, now(), ${sql.json(context)},
      '[{"id": "00000000-0000-7000-8000-000000000001", "type": "WorkspaceUntagged", "schemaVersion": 1, "data": {"keys": []}}]', null, null)`);
    await early.run(sql`commit`);
    await early.close();
    expect((await streams(readWholeLog)).slice(-2)).toEqual(['ws-nowhere', late]);
  });
});

describe('while another transaction is running in the same Postgres', () => {
  let running: DatabaseSession;

  beforeAll(async () => {
    running = await beginTransaction();
    await makeWorkspace(server, 'acme', 'meanwhile');
  });

  afterAll(() => running.close());

  it('the verification of views reports no false differences', async () => {
    expect(await differences()).toEqual([]);
  });

  it('a rebuilt view contains every acknowledged change', async () => {
    for (const view of listViews(moduleDefinitions)) await rebuildView(server.store, view, { now: new Date() });
    expect((await server.get('/api/v2/organizations/acme/workspaces/meanwhile')).status).toBe(200);
    expect(await differences()).toEqual([]);
  });
});

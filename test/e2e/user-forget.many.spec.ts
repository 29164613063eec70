import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifyView, verifySnapshots, listViews, type RebuildableView } from '#storage/event-store';
import { createNameErasureJob } from '#storage/personal-data';
import { ScheduledJobRunner } from '#platform/postgres';
import { createJobRecorder } from '#operations/site';
import { sql } from '#platform/kernel';
import { moduleDefinitions } from '../../apps/modules.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../support/seeds.js';
import { waitUntil } from '../support/product.js';
import { startTestServer, type TestServer } from '../support/server.js';

// A person with so many resources that their name cannot be erased within one request.

const NAME = 'zerlinda';
const MANY = 20_000;
const BATCH_SIZE = 2_000;

let server: TestServer;
let person: SeededMember;
let lockedWorkspace: string;

/** Copies a configuration version with its stream, its event and its row in the view. */
const copy = (model: string, first: number, last: number): Promise<unknown> => {
  const id = sql`${model} || '-' || n`;
  const times = sql`generate_series(${first}::integer, ${last}::integer) n`;
  return server.database.transaction([
    sql`insert into event_store.streams (stream, version, decider, state)
        select ${id}, version, decider, state from event_store.streams, ${times} where stream = ${model}`,
    sql`insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context,
                                         shared_context, request)
        select gen_random_uuid(), ${id}, version, type, schema_version, organization, time, data, context, shared_context,
               request
          from event_store.events, ${times} where stream = ${model}`,
    sql`insert into configuration_versions
        select (jsonb_populate_record(c, jsonb_build_object('id', ${id}))).* from configuration_versions c, ${times}
         where c.id = ${model}`,
  ]);
};

/** Copies in many transactions, because followers wait for each transaction. */
const copyMany = async (model: string): Promise<void> => {
  for (let first = 1; first <= MANY; first += BATCH_SIZE) await copy(model, first, first + BATCH_SIZE - 1);
};

const countWithName = async (): Promise<number> => {
  const row = await server.database.row<{ count: number }>(
    sql`select count(*) as count from configuration_versions where created_by ->> 'name' = ${NAME}`,
  );
  return row?.count ?? 0;
};

const isCleaned = async (): Promise<boolean> => {
  const row = await server.database.row(
    sql`select 1 from event_store.person_keys where person = ${person.id} and cleaned_at is not null`,
  );
  return row !== undefined;
};

const describing = (description: string) => resource('workspaces', { description });

beforeAll(async () => {
  server = await startTestServer();
  const { ownersTeam } = await makeOrganization(server, 'acme');
  person = await makeMember(server, 'acme', NAME, [ownersTeam]);
  const api = server.as(person.token);
  const workspace = await makeWorkspace(api, 'acme', 'busy');
  lockedWorkspace = await makeWorkspace(api, 'acme', 'held');
  expectStatus(await api.post(`/api/v2/workspaces/${lockedWorkspace}/actions/lock`, { reason: 'mine' }), 200);
  const model = await makeConfigurationVersion(api, workspace);
  await copyMany(model);
});
afterAll(() => server.close());

describe('a person who is named in twenty thousand rows', () => {
  it('is forgotten with few statements if the rows cannot be cleaned at once', async () => {
    const { forgetting } = server.runtime;
    // The database connection fails right after the commit.
    forgetting.finish = () => Promise.reject(new Error('Connection terminated'));
    const before = server.database.count.statements;
    const { detail } = expectStatus(await server.delete(`/api/v2/admin/users/${person.id}`), 503).body.errors[0];
    Reflect.deleteProperty(forgetting, 'finish');
    expect(detail).toMatch(/^The user is forgotten/);
    // Each module deletes its own rows about the person, whatever their number.
    expect(server.database.count.statements - before).toBeLessThan(40);
    expectStatus(await server.as(person.token).get('/api/v2/account/details'), 401);
    expectStatus(await server.get(`/api/v2/users/${person.id}`), 404);
    expect([await countWithName(), await isCleaned()]).toEqual([MANY + 1, false]);
  });

  it('does not block changes of a workspace that they locked, although its snapshot names them', async () => {
    expectStatus(await server.patch(`/api/v2/workspaces/${lockedWorkspace}`, describing('changed meanwhile')), 200);
    const row = await server.database.row<{ state: unknown }>(
      sql`select state from event_store.streams where stream = ${lockedWorkspace}`,
    );
    expect(JSON.stringify(row?.state)).toContain(`"name":"${person.id}"`);
  });

  it('is erased from a part of the rows if the job is stopped', async () => {
    const stop = new AbortController();
    const onExamined = (_: number, table: string): void =>
      void (table === 'views.configuration_versions' && pages++ === 10 && stop.abort());
    let pages = 0;
    await server.runtime.forgetting.finish({ signal: stop.signal, onExamined });
    const remaining = await countWithName();
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThan(MANY);
    expect(await isCleaned()).toBe(false);
  });

  it('is erased from all rows when the scheduled job has run', async () => {
    const job = new ScheduledJobRunner(
      server.database,
      createNameErasureJob(server.runtime.forgetting),
      server.runtime.logger,
      createJobRecorder(server.database, server.runtime.clock),
    );
    job.start();
    await waitUntil(isCleaned, 'the job has cleaned all rows');
    await job.stop();
    expect(await countWithName()).toBe(0);
    const states = await server.database.rows(
      sql`select stream from event_store.streams where state::text like ${`%${NAME}%`}`,
    );
    expect(states).toEqual([]);
    const view = listViews(moduleDefinitions).find(({ name }) => name === 'configuration_versions') as RebuildableView;
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
    expect(await verifySnapshots(server.store, moduleDefinitions)).toEqual([]);
    expectStatus(await server.post(`/api/v2/workspaces/${lockedWorkspace}/actions/force-unlock`), 200);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifyView, verifySnapshots, listViews, type RebuildableView } from '#event-store';
import { createNameErasureJob } from '#personal-data';
import { ScheduledJobRunner } from '#postgres';
import { sql } from '#kernel';
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

// Somebody who has done more than can be gone through while others wait.

const NAME = 'zerlinda';
const MANY = 20_000;
const AT_ONCE = 2_000;

let server: TestServer;
let person: SeededMember;
let held: string;

/** As if they had been made by them: in the log, with their streams, and in the view. */
const copy = (model: string, first: number, last: number): Promise<unknown> => {
  const id = sql`${model} || '-' || n`;
  const times = sql`generate_series(${first}::integer, ${last}::integer) n`;
  return server.database.transaction([
    sql`insert into event_store.streams (stream, version, decider, state)
        select ${id}, version, decider, state from event_store.streams, ${times} where stream = ${model}`,
    sql`insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
        select gen_random_uuid(), ${id}, version, type, schema_version, organization, time, data, context
          from event_store.events, ${times} where stream = ${model}`,
    sql`insert into configuration_versions
        select (jsonb_populate_record(c, jsonb_build_object('id', ${id}))).* from configuration_versions c, ${times}
         where c.id = ${model}`,
  ]);
};

/** In many transactions: followers wait for each. */
const copyMany = async (model: string): Promise<void> => {
  for (let first = 1; first <= MANY; first += AT_ONCE) await copy(model, first, first + AT_ONCE - 1);
};

const named = async (): Promise<number> => {
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
  held = await makeWorkspace(api, 'acme', 'held');
  expectStatus(await api.post(`/api/v2/workspaces/${held}/actions/lock`, { reason: 'mine' }), 200);
  const model = await makeConfigurationVersion(api, workspace);
  await copyMany(model);
});
afterAll(() => server.close());

describe('somebody who is named in twenty thousand places', () => {
  it('is forgotten by an append that goes through none of them', async () => {
    const { forgetting } = server.runtime;
    // The database goes away as soon as it is committed.
    forgetting.finish = () => Promise.reject(new Error('Connection terminated'));
    const before = server.database.count.statements;
    const { detail } = expectStatus(await server.delete(`/api/v2/admin/users/${person.id}`), 503).body.errors[0];
    Reflect.deleteProperty(forgetting, 'finish');
    expect(detail).toMatch(/^They are forgotten/);
    expect(server.database.count.statements - before).toBeLessThan(30);
    expectStatus(await server.as(person.token).get('/api/v2/account/details'), 401);
    expectStatus(await server.get(`/api/v2/users/${person.id}`), 404);
    expect([await named(), await isCleaned()]).toEqual([MANY + 1, false]);
  });

  it('keeps nobody from what they have locked, though its kept state names them', async () => {
    expectStatus(await server.patch(`/api/v2/workspaces/${held}`, describing('changed meanwhile')), 200);
    const row = await server.database.row<{ state: unknown }>(
      sql`select state from event_store.streams where stream = ${held}`,
    );
    expect(JSON.stringify(row?.state)).toContain(`"name":"${person.id}"`);
  });

  it('is half gone where it was stopped', async () => {
    const stop = new AbortController();
    const onErased = (_: number, table: string): void =>
      void (table === 'views.configuration_versions' && pages++ === 10 && stop.abort());
    let pages = 0;
    await server.runtime.forgetting.finish({ signal: stop.signal, onErased });
    const left = await named();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(MANY);
    expect(await isCleaned()).toBe(false);
  });

  it('is in none of them any more when the chore has been at it', async () => {
    const chore = new ScheduledJobRunner(
      server.database,
      createNameErasureJob(server.runtime.forgetting),
      server.runtime.logger,
    );
    chore.start();
    await waitUntil(isCleaned, 'the chore is through');
    await chore.stop();
    expect(await named()).toBe(0);
    const states = await server.database.rows(
      sql`select stream from event_store.streams where state::text like ${`%${NAME}%`}`,
    );
    expect(states).toEqual([]);
    const view = listViews(moduleDefinitions).find(({ name }) => name === 'configuration_versions') as RebuildableView;
    expect(await verifyView(server.store, view, new Date())).toEqual([]);
    expect(await verifySnapshots(server.store, moduleDefinitions)).toEqual([]);
    expectStatus(await server.post(`/api/v2/workspaces/${held}/actions/force-unlock`), 200);
  });
});

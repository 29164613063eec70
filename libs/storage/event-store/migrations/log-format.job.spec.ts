import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { sql, type Logger } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { waitForCondition } from '../spec.js';
import { createLogFormatJob } from './log-format.job.js';
import { migrate } from './migrate.js';

let testDatabase: TestDatabase;
let database: Database;
let earlier: Database;
const lines: string[] = [];

const record = (_fields: object, text: string): void => void lines.push(text);
const logger: Logger = { debug: record, info: record, warn: record };

const BARRIER = sql`select name from migrations.event_store where name like '000%'`;

beforeEach(async () => {
  lines.length = 0;
  testDatabase = await freshDatabase();
  database = new Database({ url: testDatabase.url, connections: 1, applicationName: 'cadastre test' });
  earlier = new Database({ url: testDatabase.url, connections: 1, applicationName: 'cadastre gateway' });
  // As an upgrade from 0.2.0 finds the database.
  await database.rows(sql`update event_store.log_format set shares_contexts = false`);
  await database.rows(sql`delete from migrations.event_store where name like '000%'`);
});

afterEach(async () => {
  await earlier.close();
  await database.close();
  await testDatabase.drop();
});

it('an upgrade is finished when the last process of 0.2.0 has stopped, and not in the same round', async () => {
  const job = createLogFormatJob(database, logger);
  const round = { signal: new AbortController().signal, done: () => undefined };
  const sharesContexts = async () =>
    (await database.row<{ shares: boolean }>(sql`select shares_contexts as shares from event_store.log_format`))
      ?.shares;
  await earlier.rows(sql`select`);
  await job.run(round);
  await job.run(round);
  expect(await database.rows<{ name: string }>(BARRIER)).toEqual([]);
  const lowest = sql`select event_store.lowest_written_version('audit_trail') as lowest`;
  expect(await database.row<{ lowest: number | null }>(lowest)).toEqual({ lowest: 1 });
  await earlier.close();
  await waitForCondition(async () => {
    const rows = await database.rows(sql`select where event_store.has_unregistered_process()`);
    return rows.length === 0;
  });
  await job.run(round);
  expect(await database.rows<{ name: string }>(BARRIER)).toEqual([{ name: '000_generation_2' }]);
  expect(await sharesContexts()).toBe(false);
  await job.run(round);
  expect(await sharesContexts()).toBe(true);
  expect(lines).toEqual([
    'the upgrade waits until all processes of 0.2.0 have stopped',
    'the upgrade is complete: 0.2.0 cannot start any more',
  ]);
  await job.run(round);
  expect(await migrate(testDatabase.url, [])).toMatchObject({ migrations: [] });
});

it('a new database refuses 0.2.0 from the start', async () => {
  const fresh = await freshDatabase();
  const opened = new Database({ url: fresh.url, connections: 1, applicationName: 'cadastre test' });
  expect(await opened.rows<{ name: string }>(BARRIER)).toEqual([{ name: '000_generation_2' }]);
  await opened.close();
  await fresh.drop();
});

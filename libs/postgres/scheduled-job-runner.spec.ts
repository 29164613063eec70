import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type Logger } from '#kernel';
import { freshDatabase, type TestDatabase } from '../../test/support/database.js';
import { ScheduledJobRunner, type JobRun } from './scheduled-job-runner.js';
import { jobMetrics } from './postgres.metrics.js';
import { TestEventStore, waitForCondition } from '../event-store/spec.js';

let testDatabase: TestDatabase;
let house: TestEventStore;
let runners: ScheduledJobRunner[] = [];

beforeEach(async () => {
  testDatabase = await freshDatabase();
  house = await TestEventStore.over(testDatabase.url);
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  runners = [];
  await house.close();
  await testDatabase.drop();
});

type Said = { readonly text: string; readonly context: object };

const SOON_MS = 10;
const LATE_MS = 3_600_000;

const start = (run: (round: JobRun) => Promise<void> | void, everyMs = SOON_MS) => {
  const said: Said[] = [];
  const keep = (context: object, text: string): void => void said.push({ text, context });
  const logger: Logger = { debug: keep, info: keep, warn: keep };
  const chore = { name: 'dusting', everyMs, run: async (round: JobRun) => run(round) };
  const runner = new ScheduledJobRunner(house.database, chore, logger);
  runners.push(runner);
  runner.start();
  return { runner, said };
};

/** What a metric says of the chore. */
const counted = async (metric: (typeof jobMetrics)['items' | 'failures']): Promise<number> =>
  (await metric.get()).values.find(({ labels }) => labels.scheduled_job === 'dusting')?.value ?? 0;

describe('a chore', () => {
  it('is run at the start, and at intervals', async () => {
    const ran: string[] = [];
    const late = start(() => void ran.push('late'), LATE_MS);
    await waitForCondition(() => ran.length > 0);
    await late.runner.stop();
    start(() => void ran.push('soon'));
    await waitForCondition(() => ran.length > 3);
    expect(ran.slice(0, 4)).toEqual(['late', 'soon', 'soon', 'soon']);
  });

  it('counts what it has done', async () => {
    const before = await counted(jobMetrics.items);
    let rounds = 0;
    start(({ done }) => {
      for (let thing = 0; thing < 4; thing += 1) done();
      done(3);
      rounds += 1;
    }, LATE_MS);
    await waitForCondition(() => rounds === 1);
    expect((await counted(jobMetrics.items)) - before).toBe(7);
  });

  it('is run by one process at a time, and by another one when that is gone', async () => {
    const ran: string[] = [];
    const first = start(() => void ran.push('first'));
    await waitForCondition(() => ran.length > 0);
    start(() => void ran.push('second'));
    await waitForCondition(() => ran.length > 5);
    expect(ran).not.toContain('second');
    await first.runner.stop();
    await waitForCondition(() => ran.includes('second'));
  });

  it('that fails is told, counted, and run again', async () => {
    const before = await counted(jobMetrics.failures);
    let rounds = 0;
    const { said } = start(() => {
      rounds += 1;
      if (rounds < 3) throw new Error(`broom ${rounds} broke`);
    }, LATE_MS);
    await waitForCondition(() => rounds === 3);
    expect((await counted(jobMetrics.failures)) - before).toBe(2);
    await waitForCondition(() => said.length === 2);
    expect(said).toMatchObject([
      {
        text: 'scheduled job failed, will retry',
        context: { scheduledJob: 'dusting', err: { message: 'broom 1 broke' }, retryInMs: 100 },
      },
      { text: 'scheduled job recovered', context: { scheduledJob: 'dusting', failures: 2 } },
    ]);
  });

  it('goes on when the connection is gone that held its lock', async () => {
    let rounds = 0;
    const { said } = start(() => void (rounds += 1));
    await waitForCondition(() => rounds > 0);
    await house.database.rows(sql`
      select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
    await waitForCondition(() => said.length > 0);
    const before = rounds;
    await waitForCondition(() => rounds > before && said.length === 2);
    expect(said.map(({ text }) => text)).toEqual(['scheduled job failed, will retry', 'scheduled job recovered']);
  });

  it('is asked to stop, and waited for', async () => {
    const steps: string[] = [];
    const { runner } = start(
      ({ signal }) =>
        new Promise((resolve) => {
          steps.push('begun');
          signal.addEventListener('abort', () => {
            steps.push('ended');
            resolve();
          });
        }),
    );
    await waitForCondition(() => steps.length === 1);
    await runner.stop();
    expect(steps).toEqual(['begun', 'ended']);
  });
});

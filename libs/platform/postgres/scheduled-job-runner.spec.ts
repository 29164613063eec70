import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type Logger } from '#platform/kernel';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { quiet } from '../../../test/support/silent-logger.js';
import { ScheduledJobRunner, type JobRecorder, type JobRun } from './scheduled-job-runner.js';
import { jobMetrics } from './postgres.metrics.js';
import { TestEventStore, waitForCondition } from '../../storage/event-store/spec.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let runners: ScheduledJobRunner[] = [];

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  runners = [];
  await testStore.close();
  await testDatabase.drop();
});

type LoggedLine = { readonly text: string; readonly context: object };

const SOON_MS = 10;
const LATE_MS = 3_600_000;

const start = (run: (round: JobRun) => Promise<void> | void, everyMs = SOON_MS) => {
  const lines: LoggedLine[] = [];
  const record = (context: object, text: string): void => void lines.push({ text, context });
  const logger: Logger = { debug: record, info: record, warn: record };
  const job = { name: 'dusting', everyMs, run: async (round: JobRun) => run(round) };
  const records: string[] = [];
  const recordRun: JobRecorder = async (name, succeeded) =>
    void records.push(`${name} ${succeeded ? 'succeeded' : 'failed'}`);
  const runner = new ScheduledJobRunner(testStore.database, job, logger, recordRun);
  runners.push(runner);
  runner.start();
  return { runner, said: lines, records };
};

/** Returns the value of a metric for the job of this spec. */
const counted = async (metric: (typeof jobMetrics)['items' | 'failures']): Promise<number> =>
  (await metric.get()).values.find(({ labels }) => labels.scheduled_job === 'dusting')?.value ?? 0;

describe('a scheduled job', () => {
  it('runs at the start and at intervals', async () => {
    const ran: string[] = [];
    const late = start(() => void ran.push('late'), LATE_MS);
    await waitForCondition(() => ran.length > 0);
    await late.runner.stop();
    start(() => void ran.push('soon'));
    await waitForCondition(() => ran.length > 3);
    expect(ran.slice(0, 4)).toEqual(['late', 'soon', 'soon', 'soon']);
  });

  it('has the result of each run recorded', async () => {
    let runs = 0;
    const { records } = start(() => {
      runs += 1;
      if (runs === 2) throw new Error('no space left');
    });
    await waitForCondition(() => records.length > 2);
    expect(records.slice(0, 3)).toEqual(['dusting succeeded', 'dusting failed', 'dusting succeeded']);
  });

  it('counts its processed items', async () => {
    const before = await counted(jobMetrics.items);
    let rounds = 0;
    start(({ done }) => {
      for (let item = 0; item < 4; item += 1) done();
      done(3);
      rounds += 1;
    }, LATE_MS);
    await waitForCondition(() => rounds === 1);
    expect((await counted(jobMetrics.items)) - before).toBe(7);
  });

  it('runs in one process at a time, and in another process after the first has stopped', async () => {
    const ran: string[] = [];
    const first = start(() => void ran.push('first'));
    await waitForCondition(() => ran.length > 0);
    start(() => void ran.push('second'));
    await waitForCondition(() => ran.length > 5);
    expect(ran).not.toContain('second');
    await first.runner.stop();
    await waitForCondition(() => ran.includes('second'));
  });

  it('is informed when its process stops leading', async () => {
    const calls: string[] = [];
    const job = {
      name: 'dusting',
      everyMs: LATE_MS,
      run: async () => void calls.push('run'),
      stopLeading: () => void calls.push('stopLeading'),
    };
    const runner = new ScheduledJobRunner(testStore.database, job, quiet, () => Promise.resolve());
    runners.push(runner);
    runner.start();
    await waitForCondition(() => calls.length > 0);
    await runner.stop();
    expect(calls).toEqual(['run', 'stopLeading']);
  });

  it('is logged, counted and run again if it fails', async () => {
    const before = await counted(jobMetrics.failures);
    let rounds = 0;
    const { said: lines } = start(() => {
      rounds += 1;
      if (rounds < 3) throw new Error(`broom ${rounds} broke`);
    }, LATE_MS);
    await waitForCondition(() => rounds === 3);
    expect((await counted(jobMetrics.failures)) - before).toBe(2);
    await waitForCondition(() => lines.length === 2);
    expect(lines).toMatchObject([
      {
        text: 'scheduled job failed, will retry',
        context: { scheduledJob: 'dusting', err: { message: 'broom 1 broke' }, retryInMs: 100 },
      },
      { text: 'scheduled job recovered', context: { scheduledJob: 'dusting', failures: 2 } },
    ]);
  });

  it('continues after the connection with its lock is lost', async () => {
    let rounds = 0;
    const { said: lines } = start(() => void (rounds += 1));
    await waitForCondition(() => rounds > 0);
    await testStore.database.rows(sql`
      select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
    await waitForCondition(() => lines.length > 0);
    const before = rounds;
    await waitForCondition(() => rounds > before && lines.length === 2);
    expect(lines.map(({ text }) => text)).toEqual(['scheduled job failed, will retry', 'scheduled job recovered']);
  });

  it('gets a signal to stop, and the runner waits for its end', async () => {
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

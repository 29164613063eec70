import { register } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { sql } from '#platform/kernel';
import { FollowerRunner } from './follower-runner.js';
import type { Follower } from './follower.js';
import { waitForFollower } from './wait-for-follower.js';
import { readLags } from './follower-lag.js';
import { TestEventStore, createLampLit, waitForCondition } from '../spec.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let runners: FollowerRunner[] = [];

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

const follower = (follow: Follower['follow']): Follower => ({ name: 'lag_watch', batch: 10, tables: [], follow });

const run = (follow: Follower['follow']): FollowerRunner => {
  const runner = new FollowerRunner(testStore.store, follower(follow), quiet);
  runners.push(runner);
  runner.start();
  return runner;
};

/** Reads the metric as Prometheus does. Returns null if it has no value for the follower. */
const scrapedLag = async (): Promise<number | null> => {
  const value = /^cadastre_follower_lag_seconds\{follower="lag_watch"\} (\S+)$/m.exec(await register.metrics())?.[1];
  return value === undefined ? null : Number(value);
};

const makeOld = (minutes: number) =>
  testStore.append('lamp-1', 'any', createLampLit('ada')).then(async () => {
    // Makes the event look old. The log itself refuses updates.
    await testStore.database.rows(sql.raw('alter table event_store.events disable trigger user'));
    await testStore.database.rows(sql`update event_store.events set time = now() - ${`${minutes} minutes`}::interval`);
  });

describe('the lag of a follower', () => {
  it('is the age of the oldest event that it has not handled, also if it never ran', async () => {
    await makeOld(10);
    await testStore.append('lamp-1', 'any', createLampLit('eve'));
    const [lag] = await readLags(testStore.database, ['nobody']);
    expect(lag?.follower).toBe('nobody');
    expect(lag?.seconds).toBeGreaterThanOrEqual(600);
    expect(lag?.seconds).toBeLessThan(900);
  });

  it('is zero at the end of the log', async () => {
    expect(await readLags(testStore.database, ['nobody'])).toEqual([{ follower: 'nobody', seconds: 0, events: 0 }]);
    await makeOld(10);
    run(() => Promise.resolve([]));
    await waitForFollower(testStore.database, 'lag_watch');
    expect(await scrapedLag()).toBe(0);
  });

  it('rises while the follower is stalled, also in a standby process', async () => {
    await makeOld(10);
    const leading = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    run(async () => {
      leading.resolve();
      await release.promise;
      return [];
    });
    await leading.promise;
    run(() => Promise.resolve([]));
    const before = (await scrapedLag()) ?? 0;
    expect(before).toBeGreaterThanOrEqual(600);
    await waitForCondition(async () => ((await scrapedLag()) ?? 0) > before);
    release.resolve();
  });

  it('is left out when the follower stops, and when the database is down', async () => {
    await makeOld(10);
    const runner = run(() => Promise.reject(new Error('stuck')));
    await waitForCondition(async () => (await scrapedLag()) !== null);
    await testStore.database.close();
    expect(await scrapedLag()).toBeNull();
    await runner.stop();
    expect(await scrapedLag()).toBeNull();
  });
});

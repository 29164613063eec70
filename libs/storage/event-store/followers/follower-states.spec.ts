import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { FollowerRunner } from './follower-runner.js';
import type { Follower } from './follower.js';
import { waitForFollower } from './wait-for-follower.js';
import { isAheadOfCluster, readFollowerStates } from './follower-states.js';
import { createLampLit, TestEventStore } from '../spec.js';

const follower: Follower = { name: 'state_watch', batch: 10, tables: [], follow: () => Promise.resolve([]) };

let testDatabase: TestDatabase;
let testStore: TestEventStore;

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
});
afterEach(async () => {
  await testStore.close();
  await testDatabase.drop();
});

it('counts the events that a follower has not read, before and after it runs', async () => {
  await testStore.append('lamp-1', 'any', createLampLit('ada'));
  const states = () => readFollowerStates(testStore.database, [follower]);
  expect(await states()).toEqual([{ name: 'state_watch', isLed: false, behind: 1, idleSeconds: null }]);
  const runner = new FollowerRunner(testStore.store, follower, quiet);
  runner.start();
  await waitForFollower(testStore.database, follower.name);
  expect(await states()).toEqual([{ name: 'state_watch', isLed: true, behind: 0, idleSeconds: expect.any(Number) }]);
  await runner.stop();
});

it('recognizes a log whose transactions this cluster has reached', async () => {
  expect(await isAheadOfCluster(testStore.database)).toBe(false);
  await testStore.append('lamp-1', 'any', createLampLit('ada'));
  expect(await isAheadOfCluster(testStore.database)).toBe(false);
});

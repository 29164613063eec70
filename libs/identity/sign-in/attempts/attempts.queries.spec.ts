import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '#platform/postgres';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { admitAttempt, countByAddress, forgiveAttempts } from './attempts.queries.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const counters = [countByAddress('192.0.2.1')];

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await freshDatabase();
  database = new Database({ url: testDatabase.url, connections: 1, applicationName: 'test' });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const admit = (ms: number): Promise<void> => admitAttempt(database, counters, new Date(NOW + ms));

it('admits two people of one address whose attempts are counted in another order than they began', async () => {
  await admit(2);
  await expect(admit(1)).resolves.toBeUndefined();
  await admit(3);
  await forgiveAttempts(database, counters, new Date(NOW + 3));
  await admit(2);
});

it('delays an address after 50 attempts, for longer each time, until a success', async () => {
  for (let attempt = 0; attempt < 60; attempt += 1) await admit(10).catch(() => undefined);
  await expect(admit(10)).rejects.toThrow('Please wait 1 seconds');
  await admit(2_000);
  await expect(admit(2_000)).rejects.toThrow('Please wait 2 seconds');
  await forgiveAttempts(database, counters, new Date(NOW + 2_000));
  await admit(2_000);
});

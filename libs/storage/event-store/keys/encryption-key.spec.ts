import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { computeKeyFingerprint, EncryptionKeys } from '#platform/encryption';
import { WrongEncryptionKeyError } from './encryption-key.js';
import { migrate } from '../migrations/migrate.js';
import { PersonKeys } from '#storage/personal-data';

const RIGHT = Buffer.alloc(32, 1);
const WRONG = Buffer.alloc(32, 2);

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
beforeEach(async () => {
  await database.transaction([sql`delete from event_store.encryption_key`, sql`delete from event_store.person_keys`]);
});

const start = (key: Buffer) => migrate(testDatabase.url, [], { encryptionKeys: new EncryptionKeys(key) });

const recorded = async (): Promise<Buffer[]> =>
  (await database.rows<{ fingerprint: Buffer }>(sql`select fingerprint from event_store.encryption_key`)).map(
    ({ fingerprint }) => fingerprint,
  );

/** Encrypts as a process with this key does when it records actions of people. */
const makePersonKeys = (key: Buffer, ...people: readonly string[]) =>
  new PersonKeys(database, new EncryptionKeys(key)).loadKeys(new Set(people));

describe('the encryption key of a database', () => {
  it('is recorded by its fingerprint at the first start and accepted at the next one', async () => {
    await start(RIGHT);
    expect(await recorded()).toEqual([computeKeyFingerprint(RIGHT)]);
    await start(RIGHT);
    expect(await recorded()).toHaveLength(1);
  });

  it('is refused if another key is recorded', async () => {
    await start(RIGHT);
    await expect(start(WRONG)).rejects.toBeInstanceOf(WrongEncryptionKeyError);
    expect(await recorded()).toEqual([computeKeyFingerprint(RIGHT)]);
  });

  it('cannot be two keys when several processes start first at the same time', async () => {
    const keys = [RIGHT, WRONG, RIGHT, WRONG];
    const starts = await Promise.allSettled(keys.map(start));
    const [winner] = await recorded();
    expect(await recorded()).toHaveLength(1);
    expect(starts.map(({ status }) => status)).toEqual(
      keys.map((key) => (winner?.equals(computeKeyFingerprint(key)) ? 'fulfilled' : 'rejected')),
    );
  });

  it('must decrypt the values of a database without a fingerprint', async () => {
    await makePersonKeys(RIGHT, 'user-1', 'user-2');
    await expect(start(WRONG)).rejects.toBeInstanceOf(WrongEncryptionKeyError);
    expect(await recorded()).toEqual([]);
    expect(await start(RIGHT)).toMatchObject({ undecryptable: 0 });
    expect(await recorded()).toEqual([computeKeyFingerprint(RIGHT)]);
  });

  it('is the key of most values if an earlier version encrypted some with another key, and those are counted', async () => {
    await makePersonKeys(RIGHT, 'user-1', 'user-2', 'user-3');
    await makePersonKeys(WRONG, 'user-4');
    await expect(start(WRONG)).rejects.toBeInstanceOf(WrongEncryptionKeyError);
    expect(await start(RIGHT)).toMatchObject({ undecryptable: 1 });
  });

  it('is checked before any migration runs', async () => {
    await start(RIGHT);
    const client = new pg.Client({ connectionString: testDatabase.url });
    await client.connect();
    await client.query(`delete from migrations.event_store where name = '004_plans_of_holding'`);
    await expect(start(WRONG)).rejects.toBeInstanceOf(WrongEncryptionKeyError);
    const { rowCount } = await client.query(`select from migrations.event_store where name = '004_plans_of_holding'`);
    expect(rowCount).toBe(0);
    await client.query(`insert into migrations.event_store (name, run_on) values ('004_plans_of_holding', now())`);
    await client.end();
  });

  it('cannot be read from the fingerprint', () => {
    expect(computeKeyFingerprint(RIGHT)).toHaveLength(32);
    expect(computeKeyFingerprint(RIGHT).equals(RIGHT)).toBe(false);
  });
});

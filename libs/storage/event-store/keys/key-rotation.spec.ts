import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { computeKeyFingerprint, EncryptionKeys, Envelope, formatKeyId } from '#platform/encryption';
import { sql } from '#platform/kernel';
import { PersonKeys } from '#storage/personal-data';
import { Database, isVersionConflictError, type DatabaseSession } from '#platform/postgres';
import { adoptEncryptionKeys, migrate } from '../migrations/migrate.js';
import { waitForCondition } from '../spec.js';
import type { EncryptedColumn } from './encrypted-column.js';
import { listEncryptedColumns, MissingPreviousKeyError, WrongEncryptionKeyError } from './encryption-key.js';
import {
  completeRotation,
  countKeyUses,
  formatConnectionKeys,
  listUnpreparedProcesses,
  readRotationState,
  reencryptColumn,
  switchWritingKey,
  tryRotationLock,
  watchWritingKey,
} from './key-rotation.js';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);

const [personKeys] = listEncryptedColumns([]) as [EncryptedColumn];
const secrets: EncryptedColumn = { table: 'vault.secrets', id: 'id', column: 'sealed', purpose: 'vault' };
const COLUMNS = [personKeys, secrets];

const createOptions = () => ({ signal: stopping.signal, noticeMs: 0 });

let testDatabase: TestDatabase;
let database: Database;
let session: DatabaseSession;
let stopping: AbortController;

const open = (name: string): Database =>
  new Database({ url: testDatabase.url, connections: 1, applicationName: `cadastre ${name}` });

/** Returns the keys of a process that starts with these settings. */
const startWith = async (current: Buffer, previous: Buffer | null = null): Promise<EncryptionKeys> => {
  const keys = new EncryptionKeys(current, previous);
  await migrate(testDatabase.url, [], { encryptionKeys: keys });
  return keys;
};

beforeEach(async () => {
  testDatabase = await freshDatabase();
  database = open('test');
  session = await database.session();
  stopping = new AbortController();
  await startWith(OLD);
});

afterEach(async () => {
  stopping.abort();
  await session.close();
  await database.close();
  await testDatabase.drop();
});

const storeSecret = (keys: EncryptionKeys, id: string, text: string): Promise<unknown> =>
  database.rows(sql`
    insert into vault.secrets (id, organization, sealed)
    values (${id}, 'org-1', ${new Envelope(keys, 'vault').encrypt(id, Buffer.from(text))})
    on conflict (id) do update set sealed = excluded.sealed`);

const readSecret = async (keys: EncryptionKeys, id: string): Promise<string> => {
  const row = await database.row<{ encrypted: Buffer }>(
    sql`select sealed as encrypted from vault.secrets where id = ${id}`,
  );
  return new Envelope(keys, 'vault').open(id, row?.encrypted ?? Buffer.alloc(0)).toString();
};

const reencryptAll = async (keys: EncryptionKeys): Promise<number[]> => {
  const counts: number[] = [];
  for (const column of COLUMNS) {
    const { reencrypted, damaged } = await reencryptColumn(session, keys, column, () => undefined);
    expect(damaged).toEqual([]);
    counts.push(reencrypted);
  }
  return counts;
};

describe('a rotation of the encryption key', () => {
  it('encrypts every value again, so that the new key alone reads them', async () => {
    const old = await startWith(OLD);
    const people = Array.from({ length: 1_200 }, (_, n) => `user-${n}`);
    const before = await new PersonKeys(database, old).loadKeys(new Set(people));
    const text = before.get('user-7')?.encrypt('name', 'ada') ?? '';
    await storeSecret(old, 'var-1', 'hunter2');

    const keys = await startWith(NEW, OLD);
    expect(await readRotationState(database)).toEqual({ isRotating: false, switchedAt: null });
    expect(await countKeyUses(database, keys, personKeys)).toEqual({ current: 0, previous: 1_200, missing: 0 });
    await switchWritingKey(session, keys, COLUMNS, createOptions());
    expect(await readRotationState(database)).toEqual({ isRotating: true, switchedAt: expect.any(String) });
    const batches: number[] = [];
    await reencryptColumn(session, keys, personKeys, (values) => batches.push(values));
    expect(batches).toEqual([500, 500, 200]);
    expect(await reencryptAll(keys)).toEqual([0, 1]);
    await completeRotation(session);

    const alone = await startWith(NEW);
    expect(await readRotationState(database)).toMatchObject({ isRotating: false });
    expect(await countKeyUses(database, alone, personKeys)).toEqual({ current: 1_200, previous: 0, missing: 0 });
    expect(await readSecret(alone, 'var-1')).toBe('hunter2');
    const after = new PersonKeys(database, alone);
    expect((await after.loadKeys(new Set(people))).get('user-7')?.open(text)).toBe('ada');
    // Equal texts are encrypted alike, and texts in the log are still recognized.
    expect((await after.loadKeys(new Set(people))).get('user-7')?.encrypt('name', 'ada')).toBe(text);
    expect(after.installationMac.isOn(text)).toBe(true);
  });

  it('keeps the old key for new values until it begins, so that processes with the old settings read them', async () => {
    const old = await startWith(OLD);
    const keys = await startWith(NEW, OLD);
    expect(keys.writing).toBe(OLD);
    await storeSecret(keys, 'var-1', 'hunter2');
    expect(await readSecret(old, 'var-1')).toBe('hunter2');
  });

  it('reaches running processes, and refuses values of a process that has not noticed it', async () => {
    const [keys, noticing, slow] = [await startWith(NEW, OLD), await startWith(NEW, OLD), await startWith(NEW, OLD)];
    const watching = watchWritingKey(database, noticing, stopping.signal);
    const begun = switchWritingKey(session, keys, COLUMNS, createOptions());
    await waitForCondition(() => Promise.resolve(noticing.writing === NEW));
    await watching;
    await begun;
    await storeSecret(noticing, 'var-1', 'hunter2');
    const refused = await storeSecret(slow, 'var-2', 'late').catch((error: unknown) => error);
    expect(isVersionConflictError(refused)).toBe(true);
    await expect(new PersonKeys(database, slow).loadKeys(new Set(['user-1']))).rejects.toThrow('was rotated');
    expect(await countKeyUses(database, keys, secrets)).toEqual({ current: 1, previous: 0, missing: 0 });
  });

  it('waits for a transaction that writes a value of the old key', async () => {
    const keys = await startWith(NEW, OLD);
    const client = new pg.Client({ connectionString: testDatabase.url });
    await client.connect();
    await client.query('begin');
    await client.query(`insert into vault.secrets values ('var-1', 'org-1', $1)`, [
      new Envelope(new EncryptionKeys(OLD), 'vault').encrypt('var-1', Buffer.from('hunter2')),
    ]);
    const begun = switchWritingKey(session, keys, COLUMNS, createOptions());
    await waitForCondition(async () => {
      const { rowCount } = await client.query(`select from pg_locks where mode = 'ShareLock' and not granted`);
      return rowCount === 1;
    });
    await client.query('commit');
    await client.end();
    await begun;
    expect(await reencryptAll(keys)).toEqual([0, 1]);
  });

  it('does not overwrite a value that changes meanwhile', async () => {
    const old = await startWith(OLD);
    await storeSecret(old, 'var-1', 'before');
    const keys = await startWith(NEW, OLD);
    await switchWritingKey(session, keys, COLUMNS, createOptions());
    const client = new pg.Client({ connectionString: testDatabase.url });
    await client.connect();
    await client.query('begin');
    await client.query('update vault.secrets set sealed = $1', [
      new Envelope(new EncryptionKeys(NEW), 'vault').encrypt('var-1', Buffer.from('after')),
    ]);
    const done = reencryptAll(keys);
    await waitForCondition(async () => {
      const { rowCount } = await client.query(`select from pg_locks where not granted`);
      return rowCount === 1;
    });
    await client.query('commit');
    await client.end();
    await done;
    expect(await readSecret(await startWith(NEW, OLD), 'var-1')).toBe('after');
  });

  it('reports damaged values and leaves them', async () => {
    const old = await startWith(OLD);
    await storeSecret(old, 'var-1', 'hunter2');
    await database.rows(sql`update vault.secrets set sealed = overlay(sealed placing 'xx' from 20)`);
    const keys = await startWith(NEW, OLD);
    await switchWritingKey(session, keys, COLUMNS, createOptions());
    const { reencrypted, damaged } = await reencryptColumn(session, keys, secrets, () => undefined);
    expect({ reencrypted, damaged }).toEqual({ reencrypted: 0, damaged: ['var-1'] });
    expect(await countKeyUses(database, keys, secrets)).toEqual({ current: 0, previous: 1, missing: 0 });
  });

  it('can go back to the old key', async () => {
    const there = await startWith(NEW, OLD);
    await switchWritingKey(session, there, COLUMNS, createOptions());
    await storeSecret(there, 'var-1', 'hunter2');
    const back = await startWith(OLD, NEW);
    expect(back.writing).toBe(NEW);
    await switchWritingKey(session, back, COLUMNS, createOptions());
    expect(await reencryptAll(back)).toEqual([0, 1]);
    await completeRotation(session);
    expect(await readSecret(await startWith(OLD), 'var-1')).toBe('hunter2');
  });

  it('is done by one command at a time', async () => {
    expect(await tryRotationLock(session)).toBe(true);
    const other = await database.session();
    expect(await tryRotationLock(other)).toBe(false);
    await other.close();
  });
});

describe('a process', () => {
  it('must have the previous key until the rotation is complete', async () => {
    const keys = await startWith(NEW, OLD);
    await expect(startWith(NEW)).rejects.toThrow(WrongEncryptionKeyError);
    await switchWritingKey(session, keys, COLUMNS, createOptions());
    await expect(startWith(NEW)).rejects.toThrow(MissingPreviousKeyError);
    await expect(startWith(OLD)).rejects.toThrow(WrongEncryptionKeyError);
    const worker = new EncryptionKeys(NEW, OLD);
    await adoptEncryptionKeys(testDatabase.url, [], worker);
    expect(worker.writing).toBe(NEW);
    await completeRotation(session);
    expect((await startWith(NEW)).writing).toBe(NEW);
    await expect(startWith(OLD)).rejects.toThrow(WrongEncryptionKeyError);
  });

  it('recognizes which of its keys encrypted a database of an earlier version', async () => {
    await new PersonKeys(database, await startWith(OLD)).loadKeys(new Set(['user-1']));
    await database.rows(sql`delete from event_store.encryption_key`);
    expect((await startWith(NEW, OLD)).writing).toBe(OLD);
  });

  it('without the new key is listed, by the names of its connections', async () => {
    const keys = new EncryptionKeys(NEW, OLD);
    const prepared = open(`gateway, ${formatConnectionKeys(keys)}`);
    const unprepared = open(`projector, ${formatConnectionKeys(new EncryptionKeys(OLD))}`);
    for (const one of [prepared, unprepared]) await one.rows(sql`select`);
    const id = formatKeyId(computeKeyFingerprint(OLD));
    expect((await listUnpreparedProcesses(prepared, keys)).map(({ name }) => name)).toEqual([
      `cadastre projector, keys ${id}`,
      'cadastre test',
    ]);
    await prepared.close();
    await unprepared.close();
  });
});

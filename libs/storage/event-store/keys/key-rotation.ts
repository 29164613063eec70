import {
  computeKeyFingerprint,
  computeSecretFingerprint,
  Envelope,
  formatKeyId,
  type EncryptionKeys,
} from '#platform/encryption';
import { sql, type Sql } from '#platform/kernel';
import { computeLockKey, isLockTimeout, pause, type Database, type DatabaseSession } from '#platform/postgres';
import type { EncryptedColumn } from './encrypted-column.js';
import { encryptMacKey } from './encryption-key.js';

/** A connection of a process that does not have the current key. */
type UnpreparedProcess = { readonly name: string; readonly address: string | null };

/** Numbers of values by their key. */
export type KeyUse = { readonly current: number; readonly previous: number; readonly missing: number };

export type RotationState = {
  /** Whether values may still be encrypted with the previous key. */
  readonly isRotating: boolean;
  /** When the current key became the key of new values, in ISO 8601; null if the site has always had it. */
  readonly switchedAt: string | null;
};

/** How often a process reads which key encrypts new values, in milliseconds. */
const WATCH_MS = 1_000;
const NOTICE_MS = 3 * WATCH_MS;
const BATCH = 500;
const LOCK_TIMEOUT_MS = 300;

/** Returns the end of the names of connections, by which a rotation sees which keys a process has. */
export const formatConnectionKeys = (keys: EncryptionKeys): string =>
  `keys ${keys.all.map((key) => formatKeyId(computeKeyFingerprint(key))).join(' ')}`;

/** Keeps `keys.writing` up to date until the signal aborts or a rotation has reached this process. */
export const watchWritingKey = async (database: Database, keys: EncryptionKeys, signal: AbortSignal): Promise<void> => {
  keys.watch(() => readWritingKey(database, keys));
  while (!signal.aborted && keys.writing !== keys.current) {
    // During an outage of the database, nothing is written with any key.
    await keys.refresh().catch(() => undefined);
    await pause(WATCH_MS, signal);
  }
};

const readWritingKey = async (database: Database, keys: EncryptionKeys): Promise<Buffer> => {
  const row = await database.row<{ fingerprint: Buffer }>(sql`select fingerprint from event_store.encryption_key`);
  return (row && keys.find(row.fingerprint)) ?? keys.writing;
};

export const readRotationState = async (database: Database): Promise<RotationState> => {
  const row = await database.row<RotationState>(sql`
    select previous is not null as "isRotating", switched_at as "switchedAt" from event_store.encryption_key`);
  return row ?? { isRotating: false, switchedAt: null };
};

/** What the database records about its keys apart from fingerprints. */
type StoredKeys = {
  readonly isRotating: boolean;
  /** The key of MACs, encrypted with the key of new values; null before the first rotation. */
  readonly macKey: Buffer | null;
};

/** Reads what a backup needs about the keys, in the open transaction of the session. */
export const readStoredKeys = async (session: DatabaseSession): Promise<StoredKeys> => {
  const [row] = await session.run<StoredKeys>(sql`
    select previous is not null as "isRotating", mac_key as "macKey" from event_store.encryption_key`);
  return row ?? { isRotating: false, macKey: null };
};

/** Stores the key of MACs of a restored log. */
export const storeMacKey = (macKey: Buffer): Sql => sql`update event_store.encryption_key set mac_key = ${macKey}`;

/** Returns the processes that could not read values of the current key. Commands that only migrate are left out. */
export const listUnpreparedProcesses = (database: Database, keys: EncryptionKeys): Promise<UnpreparedProcess[]> =>
  database.rows<UnpreparedProcess>(sql`
    select distinct coalesce(application_name, '') as name, host(client_addr) as address
      from pg_stat_activity
     where datname = current_database() and application_name like 'cadastre %'
       and application_name not in ('cadastre migrate', 'cadastre doctor')
       and position(${formatKeyId(computeKeyFingerprint(keys.current))} in application_name) = 0
     order by 1, 2`);

export const countKeyUses = async (
  database: Database,
  keys: EncryptionKeys,
  { table, column, purpose }: EncryptedColumn,
): Promise<KeyUse> => {
  const rows = await database.rows<{ fingerprint: Buffer; count: number }>(sql`
    select substring(${sql.raw(column)} from 2 for 4) as fingerprint, count(*) as count
      from ${sql.raw(table)} where ${sql.raw(column)} is not null group by 1`);
  const countWith = (key: Buffer | null): number => {
    const expected = key && computeSecretFingerprint(key, purpose);
    return (expected && rows.find(({ fingerprint }) => fingerprint.equals(expected))?.count) ?? 0;
  };
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const [current, previous] = [countWith(keys.current), countWith(keys.previous)];
  return { current, previous, missing: total - current - previous };
};

type SwitchOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds for processes to notice the new key before writes with the previous key are refused. */
  readonly noticeMs?: number;
};

/**
 * Makes the current key that of new values, in all processes. Afterwards no value of the previous key is added. Does
 * nothing that an interrupted rotation has done already.
 */
export const switchWritingKey = async (
  session: DatabaseSession,
  keys: EncryptionKeys,
  columns: readonly EncryptedColumn[],
  { signal, noticeMs = NOTICE_MS }: SwitchOptions,
): Promise<void> => {
  const { current, previous, macKey } = keys;
  if (!previous || !macKey) throw new Error('a rotation needs two keys and a database that was checked');
  await session.pipeline([
    sql`delete from event_store.retired_keys
         where value_fingerprint = any (${listFingerprints(current, columns)}::bytea[])`,
    sql`update event_store.encryption_key
           set fingerprint = ${computeKeyFingerprint(current)}, previous = ${computeKeyFingerprint(previous)},
               mac_key = ${encryptMacKey(current, macKey)}, switched_at = now()
         where fingerprint = ${computeKeyFingerprint(previous)}`,
  ]);
  keys.adopt({ writing: current, macKey });
  if (await isRetired(session, previous, columns)) return;
  await pause(noticeMs, signal);
  while (!(await tryRetire(session, previous, columns))) await pause(LOCK_TIMEOUT_MS, signal);
};

const listFingerprints = (key: Buffer, columns: readonly EncryptedColumn[]): readonly Buffer[] =>
  columns.map(({ purpose }) => computeSecretFingerprint(key, purpose));

const isRetired = async (
  session: DatabaseSession,
  key: Buffer,
  columns: readonly EncryptedColumn[],
): Promise<boolean> => {
  const [row] = await session.run<{ count: number }>(sql`
    select count(*) as count from event_store.retired_keys
     where value_fingerprint = any (${listFingerprints(key, columns)}::bytea[])`);
  return row?.count === columns.length;
};

/**
 * Makes triggers refuse values of this key. The locks wait for transactions that write encrypted values, so every value
 * of the key is visible afterwards. Returns false if a transaction takes long.
 */
const tryRetire = async (
  session: DatabaseSession,
  key: Buffer,
  columns: readonly EncryptedColumn[],
): Promise<boolean> => {
  const tables = sql.raw([...new Set(columns.map(({ table }) => table))].join(', '));
  await session.run(sql`begin`);
  try {
    await session.run(sql`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`);
    await session.run(sql`lock table ${tables} in share mode`);
    await session.run(sql`
      insert into event_store.retired_keys
      select unnest(${listFingerprints(key, columns)}::bytea[]) on conflict do nothing`);
    await session.run(sql`commit`);
    return true;
  } catch (error) {
    await session.run(sql`rollback`);
    if (isLockTimeout(error)) return false;
    throw error;
  }
};

type ColumnRotation = { readonly reencrypted: number; readonly damaged: readonly string[] };

/** The statement selects no null. Some columns may be null. */
type EncryptedValueRow = { readonly id: string; readonly value: Buffer | null };

/**
 * Encrypts the values of a column with the current key, in transactions of 500 values. A value that changes meanwhile
 * stays as it is: the process that changed it used the current key. Reports each batch.
 */
export const reencryptColumn = async (
  session: DatabaseSession,
  keys: EncryptionKeys,
  column: EncryptedColumn,
  onBatch: (values: number) => void,
): Promise<ColumnRotation> => {
  const envelope = new Envelope(keys, column.purpose);
  const damaged: string[] = [];
  let reencrypted = 0;
  for (let after = ''; ;) {
    const rows = await session.run<EncryptedValueRow>(selectPreviousValues(keys, column, after));
    const last = rows.at(-1);
    if (!last) return { reencrypted, damaged };
    const values = rows.flatMap((row) => {
      const value = reencryptValue(envelope, row);
      if (value === null) damaged.push(row.id);
      return value ?? [];
    });
    await session.run(updateValues(column, values));
    reencrypted += values.length;
    onBatch(rows.length);
    after = last.id;
  }
};

const selectPreviousValues = (keys: EncryptionKeys, { table, id, column, purpose }: EncryptedColumn, after: string) => {
  const [idName, columnName] = [sql.raw(id), sql.raw(column)];
  return sql`
    select ${idName} as id, ${columnName} as value from ${sql.raw(table)}
     where ${idName} > ${after}
       and substring(${columnName} from 2 for 4) = ${computeSecretFingerprint(keys.previous as Buffer, purpose)}
     order by ${idName} limit ${BATCH}`;
};

type ReencryptedValue = { readonly id: string; readonly before: Buffer; readonly after: Buffer };

/** Returns null if the value is damaged. */
const reencryptValue = (envelope: Envelope, { id, value }: EncryptedValueRow): ReencryptedValue | null => {
  try {
    return value && { id, before: value, after: envelope.encrypt(id, envelope.open(id, value)) };
  } catch {
    return null;
  }
};

const updateValues = ({ table, id, column }: EncryptedColumn, values: readonly ReencryptedValue[]): Sql => sql`
  update ${sql.raw(table)} stored set ${sql.raw(column)} = changed.after
    from unnest(${values.map((value) => value.id)}::text[], ${values.map(({ before }) => before)}::bytea[],
                ${values.map(({ after }) => after)}::bytea[]) as changed (id, before, after)
   where stored.${sql.raw(id)} = changed.id and stored.${sql.raw(column)} = changed.before`;

/** Records that no value needs the previous key any more. */
export const completeRotation = async (session: DatabaseSession): Promise<void> => {
  await session.run(sql`update event_store.encryption_key set previous = null`);
};

const ROTATION_LOCK = computeLockKey('cadastre keys rotate');

/** Returns whether no other session rotates keys until this one ends. */
export const tryRotationLock = async (session: DatabaseSession): Promise<boolean> => {
  const [lock] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${ROTATION_LOCK}) as ok`);
  return lock?.ok ?? false;
};

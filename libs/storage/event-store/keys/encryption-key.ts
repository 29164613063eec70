import type pg from 'pg';
import { computeKeyFingerprint, Envelope, EncryptionKeys } from '#platform/encryption';
import { deriveMacKey } from '#storage/personal-data';
import type { EncryptedColumn } from './encrypted-column.js';
import type { ModuleDefinition } from '../module-definition.js';

/** Thrown if the database is encrypted with another key. Nothing was changed. */
export class WrongEncryptionKeyError extends Error {
  constructor() {
    super('this is not the key that the database is encrypted with');
    this.name = 'WrongEncryptionKey';
  }
}

/** Thrown if values may still be encrypted with the previous key, and it is not configured. Nothing was changed. */
export class MissingPreviousKeyError extends Error {
  constructor() {
    super('values may still be encrypted with the previous key');
    this.name = 'MissingPreviousKey';
  }
}

export type KeyCheck = {
  /** Whether the database contains a fingerprint. A new database, or one of an earlier version, has none. */
  readonly isRecorded: boolean;
  /** Number of values that are encrypted with another key. It is 0 unless an earlier version ran with several keys. */
  readonly undecryptable: number;
  /** The key of new values. */
  readonly writing: Buffer;
  /** See EncryptionKeys. */
  readonly macKey: Buffer;
  /** Whether values may still be encrypted with the previous key. */
  readonly isRotating: boolean;
};

const PERSON_KEYS: EncryptedColumn = {
  table: 'event_store.person_keys',
  id: 'person',
  column: 'key',
  purpose: 'person keys',
};
/** Values that are read from each column to recognize the key of a database without a fingerprint. */
const SAMPLE = 10_000;

const MAC_KEY = 'installation mac key';

/** Returns the columns that are encrypted with an Envelope. */
export const listEncryptedColumns = (definitions: readonly ModuleDefinition[]): readonly EncryptedColumn[] => [
  PERSON_KEYS,
  ...definitions.flatMap(({ encryptedColumns = [] }) => encryptedColumns),
];

/** Encrypts the key of MACs for the column `mac_key`. */
export const encryptMacKey = (encryptionKey: Buffer, macKey: Buffer): Buffer =>
  new Envelope(new EncryptionKeys(encryptionKey), MAC_KEY).encrypt(MAC_KEY, macKey);

/**
 * Compares the keys with the recorded fingerprint or, if there is none yet, with the encrypted values in the database.
 * Throws WrongEncryptionKeyError if the database is encrypted with another key, and MissingPreviousKeyError during a
 * rotation. Works before any migration has run, and writes nothing.
 */
export const checkEncryptionKey = async (
  client: pg.Client,
  keys: EncryptionKeys,
  definitions: readonly ModuleDefinition[],
): Promise<KeyCheck> => {
  const recorded = await readRecordedKey(client);
  if (recorded === null) return recognizeKey(client, keys, definitions);
  const writing = keys.find(recorded.fingerprint);
  if (!writing) throw new WrongEncryptionKeyError();
  if (recorded.previous && !keys.find(recorded.previous)) throw new MissingPreviousKeyError();
  const macKey = recorded.mac_key ? new Envelope(keys, MAC_KEY).open(MAC_KEY, recorded.mac_key) : deriveMacKey(writing);
  return { isRecorded: true, undecryptable: 0, writing, macKey, isRotating: Boolean(recorded.previous) };
};

const recognizeKey = async (
  client: pg.Client,
  keys: EncryptionKeys,
  definitions: readonly ModuleDefinition[],
): Promise<KeyCheck> => {
  const decrypted = new Map(keys.all.map((key) => [key, 0]));
  let values = 0;
  for (const column of listEncryptedColumns(definitions)) {
    const sample = await readSample(client, column);
    values += sample.length;
    for (const key of keys.all) {
      const envelope = new Envelope(new EncryptionKeys(key), column.purpose);
      const count = sample.filter(({ id, value }) => canDecrypt(envelope, id, value)).length;
      decrypted.set(key, (decrypted.get(key) ?? 0) + count);
    }
  }
  const [[writing, most] = [keys.current, 0]] = [...decrypted].toSorted(([, a], [, b]) => b - a);
  // Earlier versions accepted any key, so a command with a wrong key may have written a few values.
  if (values - most > most) throw new WrongEncryptionKeyError();
  const macKey = deriveMacKey(writing);
  return { isRecorded: false, undecryptable: values - most, writing, macKey, isRotating: false };
};

/**
 * Records the key's fingerprint. The caller must hold the lock of migrations, so that no other process records another
 * key.
 */
export const recordEncryptionKey = async (client: pg.Client, encryptionKey: Buffer): Promise<void> => {
  await client.query('insert into event_store.encryption_key (fingerprint) values ($1)', [
    computeKeyFingerprint(encryptionKey),
  ]);
};

const hasTable = async (client: pg.Client, table: string): Promise<boolean> => {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [table]);
  return rows[0]?.exists ?? false;
};

/** Migration 009 adds `previous` and `mac_key`, and has perhaps not run yet. */
type RecordedKey = {
  readonly fingerprint: Buffer;
  readonly previous?: Buffer | null;
  readonly mac_key?: Buffer | null;
};

const readRecordedKey = async (client: pg.Client): Promise<RecordedKey | null> => {
  if (!(await hasTable(client, 'event_store.encryption_key'))) return null;
  const { rows } = await client.query<RecordedKey>('select * from event_store.encryption_key');
  return rows[0] ?? null;
};

type EncryptedValue = { readonly id: string; readonly value: Buffer };

const readSample = async (
  client: pg.Client,
  { table, id, column }: EncryptedColumn,
): Promise<readonly EncryptedValue[]> => {
  if (!(await hasTable(client, table))) return [];
  // The names come from the code, never from a caller.
  const { rows } = await client.query<EncryptedValue>(
    `select ${id} as id, ${column} as value from ${table} where ${column} is not null limit ${SAMPLE}`,
  );
  return rows;
};

const canDecrypt = (envelope: Envelope, id: string, value: Buffer): boolean => {
  try {
    envelope.open(id, value);
    return true;
  } catch {
    return false;
  }
};

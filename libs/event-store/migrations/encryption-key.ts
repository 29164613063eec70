import { hkdfSync, timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import type { EncryptedColumn } from './encrypted-column.js';
import { Envelope } from '#encryption';
import type { ModuleDefinition } from '../module-definition.js';

/** Thrown if the database is encrypted with another key. Nothing was changed. */
export class WrongEncryptionKeyError extends Error {
  constructor() {
    super('this is not the key that the database is encrypted with');
    this.name = 'WrongEncryptionKey';
  }
}

export type KeyCheck = {
  /** Whether the database contains a fingerprint. A new database, or one of an earlier version, has none. */
  readonly isRecorded: boolean;
  /** Number of values that are encrypted with another key. It is 0 unless an earlier version ran with several keys. */
  readonly undecryptable: number;
};

const FINGERPRINT_LENGTH = 32;
const PERSON_KEYS: EncryptedColumn = {
  table: 'event_store.person_keys',
  id: 'person',
  column: 'key',
  purpose: 'person keys',
};
/** Values that are read from each column to recognize the key of a database without a fingerprint. */
const SAMPLE = 10_000;

/**
 * Returns a fingerprint that identifies the key and reveals nothing about it: HKDF (HMAC-SHA-256) with its own info
 * string.
 */
export const computeKeyFingerprint = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'cadastre encryption key fingerprint 1', FINGERPRINT_LENGTH));

/**
 * Compares the key with the recorded fingerprint or, if there is none yet, with the encrypted values in the database.
 * Throws WrongEncryptionKeyError for another key. Works before any migration has run, and writes nothing.
 */
export const checkEncryptionKey = async (
  client: pg.Client,
  encryptionKey: Buffer,
  definitions: readonly ModuleDefinition[],
): Promise<KeyCheck> => {
  const recorded = await readRecordedFingerprint(client);
  if (recorded !== null) {
    const fingerprint = computeKeyFingerprint(encryptionKey);
    const isSame = recorded.length === fingerprint.length && timingSafeEqual(recorded, fingerprint);
    if (!isSame) throw new WrongEncryptionKeyError();
    return { isRecorded: true, undecryptable: 0 };
  }
  let decrypted = 0;
  let undecryptable = 0;
  for (const encrypted of [PERSON_KEYS, ...definitions.flatMap(({ encryptedColumns = [] }) => encryptedColumns)]) {
    const envelope = new Envelope(encryptionKey, encrypted.purpose);
    for (const { id, value } of await readSample(client, encrypted)) {
      if (canDecrypt(envelope, id, value)) decrypted += 1;
      else undecryptable += 1;
    }
  }
  // Earlier versions accepted any key, so a command with a wrong key may have written a few values.
  if (undecryptable > decrypted) throw new WrongEncryptionKeyError();
  return { isRecorded: false, undecryptable };
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

const readRecordedFingerprint = async (client: pg.Client): Promise<Buffer | null> => {
  if (!(await hasTable(client, 'event_store.encryption_key'))) return null;
  const { rows } = await client.query<{ fingerprint: Buffer }>('select fingerprint from event_store.encryption_key');
  return rows[0]?.fingerprint ?? null;
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

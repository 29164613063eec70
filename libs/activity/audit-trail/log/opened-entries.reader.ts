import { sql } from '#platform/kernel';
import { DurableRowError, type EventStore } from '#storage/event-store';
import { forEachString, isEncryptedText } from '#storage/personal-data';
import { renderEntry, type EntryVisibility } from '../writing/trail-entry.js';
import type { NumberedEntry } from '../writing/trail.js';
import { CLIENT_DETAILS, findCommittedValues } from './committed-values.renderer.js';
import { describeLeafDifference } from './leaf-differences.renderer.js';
import { DIGEST_LENGTH, type LogSecret } from './log-secret.service.js';
import { LogSecrets, type StoredLog } from './leaf.recorder.js';
import { LEAF_COUNT, type IndexedLeaf } from './trail-logs.queries.js';

/** An entry of a log with what proves that its leaf contains it. */
export type OpenedEntry = {
  readonly index: number;
  /** The entry as readers get it. */
  readonly entry: unknown;
  readonly salt: Buffer;
  /** The commitments to personal values and details of the client, by JSON pointer. */
  readonly commitments: Readonly<Record<string, Buffer>>;
  /** The salts of those values that the entry shows. */
  readonly salts: Readonly<Record<string, Buffer>>;
  readonly leaf: Buffer;
};

const toBase64 = (values: Readonly<Record<string, Buffer>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([pointer, value]) => [pointer, value.toString('base64')]));

/** Renders what computes the leaf from the entry, with byte strings in base64. */
export const renderOpening = ({ salt, commitments, salts }: Pick<OpenedEntry, 'salt' | 'commitments' | 'salts'>) => ({
  salt: salt.toString('base64'),
  commitments: toBase64(commitments),
  salts: toBase64(salts),
});

/** The log of an organization: `leaves` is its size, and `firstOrdinal` the ordinal of the entry with index 0. */
export type TrailLog = StoredLog;

/** Returns the log of an organization; null if its trail has none. */
export const findTrailLog = async (
  { database }: Pick<EventStore, 'database'>,
  organization: string,
): Promise<TrailLog | null> =>
  (await database.row<TrailLog>(sql`
    select l.organization, l.first_ordinal as "firstOrdinal", l.secret, l.pruned, ${LEAF_COUNT} as leaves
      from audit_trail.logs l where l.organization = ${organization}`)) ?? null;

const secrets = new LogSecrets();

/**
 * Opens stored entries of one trail, in the given order. Entries from before the log are left out. The keys of people are
 * read after the entries, so that nothing of a forgotten person is shown. Throws DurableRowError if a leaf is missing or
 * differs from its entry.
 */
export const openEntries = async (
  store: EventStore,
  log: TrailLog,
  stored: readonly NumberedEntry[],
  visibility: EntryVisibility,
): Promise<readonly OpenedEntry[]> => {
  const located = stored.flatMap(({ ordinal, entry }) =>
    ordinal >= log.firstOrdinal ? [{ index: ordinal - log.firstOrdinal, entry }] : [],
  );
  if (located.length === 0) return [];
  const leaves = await readLeaves(store, log.organization, located);
  const texts = new Set<string>();
  for (const { entry } of located) forEachString(entry, (text) => isEncryptedText(text) && texts.add(text));
  const open = await store.personalDataCipher.createOpener(texts, 'present');
  const secret = secrets.open(store, log);
  return located.map(({ index, entry }) => {
    const leaf = leaves.get(index);
    const committed = findCommittedValues(entry, open);
    const computed = secret.computeLeaf(committed, leaf?.commitments);
    const difference = describeLeafDifference({ organization: log.organization, index }, computed, leaf);
    if (difference !== null) throw new DurableRowError(difference);
    return describeOpening(secret, { index, computed, committed }, visibility);
  });
};

type Opening = {
  readonly index: number;
  readonly computed: ReturnType<LogSecret['computeLeaf']>;
  readonly committed: ReturnType<typeof findCommittedValues>;
};

const describeOpening = (
  secret: LogSecret,
  { index, computed: { id, leaf, commitments }, committed: { entry, values } }: Opening,
  visibility: EntryVisibility,
): OpenedEntry => {
  const openValues = values.filter(({ pointer }) => visibility.clientDetails || !CLIENT_DETAILS.includes(pointer));
  return {
    index,
    entry: renderEntry(entry, visibility),
    salt: secret.computeEntrySalt(id),
    commitments: Object.fromEntries(
      values.map(({ pointer }, n) => [
        pointer,
        (commitments as Buffer).subarray(n * DIGEST_LENGTH, (n + 1) * DIGEST_LENGTH),
      ]),
    ),
    salts: Object.fromEntries(
      openValues.flatMap((value) => {
        const salt = secret.computeSalt(id, value);
        return salt ? [[value.pointer, salt]] : [];
      }),
    ),
    leaf,
  };
};

/** Reads single leaves, because the entries of a filtered export can be far from each other. */
const readLeaves = async (
  { database }: EventStore,
  organization: string,
  located: readonly { readonly index: number }[],
): Promise<ReadonlyMap<number, IndexedLeaf>> => {
  const rows = await database.rows<IndexedLeaf>(sql`
    select organization, index, id, leaf, commitments from audit_trail.leaves
     where organization = ${organization} and index = any (${located.map(({ index }) => index)}::bigint[])`);
  return new Map(rows.map((row) => [row.index, row]));
};

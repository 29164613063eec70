import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RecordedEvent, Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { DurableRowError, type EventStore } from '#storage/event-store';
import { forEachString, isEncryptedText, type TextOpener } from '#storage/personal-data';
import { toTrailEntry } from '../writing/stored-entry.js';
import type { TrailEntry } from '../writing/trail-entry.js';
import { SITE_TRAIL, type NumberedEntry } from '../writing/trail.js';
import { findCommittedValues } from './committed-values.renderer.js';
import {
  describeLeafBeforeEntry,
  describeLeafDifference,
  describeLostEntries,
  describeSurplusLeaf,
} from './leaf-differences.renderer.js';
import { DIGEST_LENGTH, LogSecret } from './log-secret.service.js';
import {
  insertLeaves,
  insertLog,
  listEntryRows,
  LOG_SECRETS_PURPOSE,
  selectFirstStarts,
  selectLeaves,
  selectPruned,
  SELECT_SURPLUS_LEAF,
  type IndexedLeaf,
  type LeafSpan,
  type LogStart,
} from './trail-logs.queries.js';

/** A log as it is stored. */
export type StoredLog = {
  readonly organization: string;
  readonly firstOrdinal: number;
  readonly secret: Buffer;
  readonly pruned: number;
  /** The number of leaves that the log has had. */
  readonly leaves: number;
};

type OpenLog = Omit<StoredLog, 'secret'> & { readonly secret: LogSecret };

/** New entries of trails, with the events of which they are, and the stored logs of these trails. */
type RecordedEntries = {
  readonly events: readonly RecordedEvent[];
  readonly entries: readonly NumberedEntry[];
  readonly logs: readonly StoredLog[];
};

type RecorderContext = { readonly session: Pick<DatabaseSession, 'run'>; readonly store: EventStore };

/** The version of the view since which every process writes leaves. */
type LeafVersion = { readonly view: string; readonly version: number };

const MAX_CACHED_SECRETS = 10_000;
/** The event after which an organization with earlier entries has a log. */
const LOG_STARTED = 'AuditTrailLogStarted';

/** Decrypts secrets of logs. */
export class LogSecrets {
  private readonly cache = new LRUCache<string, { readonly stored: Buffer; readonly secret: LogSecret }>({
    max: MAX_CACHED_SECRETS,
  });

  open(store: EventStore, { organization, secret: stored }: Pick<StoredLog, 'organization' | 'secret'>): LogSecret {
    const cached = this.cache.get(organization);
    if (cached?.stored.equals(stored)) return cached.secret;
    const secret = new LogSecret(store.createEnvelope(LOG_SECRETS_PURPOSE).open(organization, stored));
    this.cache.set(organization, { stored, secret });
    return secret;
  }
}

/** Writes the leaves of new entries, and compares those of entries that a replay computes again. */
export class LeafRecorder {
  private readonly secrets = new LogSecrets();

  constructor(private readonly leafVersion: LeafVersion) {}

  /** Returns the statements that append the leaves of new entries to the logs, and begin new logs. */
  async record(added: RecordedEntries, { session, store }: RecorderContext): Promise<readonly Sql[]> {
    const begun = await this.beginLogs(added, { session, store });
    const logs = this.openLogs([...added.logs, ...begun], store);
    const entries = [...(await this.readUnrecorded(added.entries, logs, session)), ...added.entries].flatMap((one) =>
      locate(one, logs),
    );
    if (entries.length === 0) return [];
    const open = await createFollowedOpener(entries, { session, store });
    const leaves = entries.map(({ log, index, entry }): IndexedLeaf => ({
      ...log.secret.computeLeaf(findCommittedValues(entry, open)),
      organization: log.organization,
      index,
    }));
    return [
      ...begun.map(({ organization, firstOrdinal, secret }) => insertLog(organization, firstOrdinal, secret)),
      insertLeaves(leaves),
    ];
  }

  /** Throws DurableRowError for the first entry whose stored leaf differs from the computed one. */
  async compare(
    { entries, logs }: Omit<RecordedEntries, 'events'>,
    { session, store }: RecorderContext,
  ): Promise<void> {
    const open = this.openLogs(logs, store);
    const expected = entries.flatMap((one) => locate(one, open)).filter(({ log, index }) => index >= log.pruned);
    if (expected.length === 0) return;
    const rows = await session.run<IndexedLeaf>(selectLeaves(toRanges(expected)));
    const stored = new Map(rows.map((row) => [toKey(row.organization, row.index), row]));
    const opener = await createFollowedOpener(expected, { session, store });
    for (const { log, index, entry } of expected) {
      const leaf = stored.get(toKey(log.organization, index));
      const computed = log.secret.computeLeaf(findCommittedValues(entry, opener), leaf?.commitments);
      const difference = describeLeafDifference({ ...log, index }, computed, leaf);
      if (difference === null) continue;
      // The leaf can have been pruned since its log was read.
      const [state] = leaf ? [] : await session.run<{ pruned: number }>(selectPruned(log.organization));
      if (index >= (state?.pruned ?? 0)) throw new DurableRowError(difference);
    }
  }

  private openLogs(logs: readonly StoredLog[], store: EventStore): ReadonlyMap<string, OpenLog> {
    return new Map(logs.map((log) => [log.organization, { ...log, secret: this.secrets.open(store, log) }]));
  }

  /** Returns new logs for organizations whose trail begins, or whose older entries have been counted. */
  private async beginLogs(
    { events, entries, logs }: RecordedEntries,
    { session, store }: RecorderContext,
  ): Promise<readonly StoredLog[]> {
    const starts = listStarts(events, entries, new Set(logs.map(({ organization }) => organization)));
    if (starts.length === 0) return [];
    const { view, version } = this.leafVersion;
    const envelope = store.createEnvelope(LOG_SECRETS_PURPOSE);
    const rows = await session.run<Pick<LogStart, 'organization' | 'ordinal'>>(
      selectFirstStarts(starts, view, version),
    );
    return rows.map(({ organization, ordinal }) => ({
      organization,
      firstOrdinal: ordinal,
      secret: envelope.encrypt(organization, randomBytes(DIGEST_LENGTH)),
      pruned: 0,
      leaves: 0,
    }));
  }

  /**
   * Returns the entries whose leaves are missing before the new ones: a process of an earlier version, which writes no
   * leaves, can have been the projector for a time. Throws DurableRowError for leaves that no entry has.
   */
  private async readUnrecorded(
    added: readonly NumberedEntry[],
    logs: ReadonlyMap<string, OpenLog>,
    session: RecorderContext['session'],
  ): Promise<readonly NumberedEntry[]> {
    const missing: NumberedEntry[] = [];
    const firsts = new Map(added.toReversed().map((one) => [one.entry.auth.organization_id, one.ordinal]));
    for (const [organization, ordinal] of firsts) {
      const log = logs.get(organization);
      if (!log || ordinal - log.firstOrdinal === log.leaves || ordinal < log.firstOrdinal) continue;
      const { firstOrdinal, leaves } = log;
      const next = ordinal - firstOrdinal;
      if (leaves > next) throw new DurableRowError(describeLeafBeforeEntry({ organization, index: next }));
      const rows = await listEntryRows(session, organization, firstOrdinal + leaves, firstOrdinal + next - 1);
      if (rows.length < next - leaves) throw new DurableRowError(describeLostEntries({ organization, index: leaves }));
      missing.push(...rows.map((row) => ({ ordinal: row.ordinal, entry: toTrailEntry(row) })));
    }
    return missing;
  }
}

/** Describes a leaf that is stored after the last entry of its trail; null if there is none. */
export const findSurplusLeaf = async (session: RecorderContext['session']): Promise<string | null> => {
  const [surplus] = await session.run<Pick<IndexedLeaf, 'organization' | 'index' | 'id'>>(SELECT_SURPLUS_LEAF);
  return surplus ? describeSurplusLeaf(surplus) : null;
};

const listStarts = (
  events: readonly RecordedEvent[],
  entries: readonly NumberedEntry[],
  logged: ReadonlySet<string>,
): readonly LogStart[] => {
  const byId = new Map(events.map((event) => [event.id, event]));
  return entries.flatMap(({ ordinal, entry: { id, auth } }) => {
    const event = byId.get(id);
    const organization = auth.organization_id;
    if (!event || organization === SITE_TRAIL || logged.has(organization)) return [];
    if (ordinal > 1 && event.type !== LOG_STARTED) return [];
    return [{ organization, ordinal, transaction: event.transaction, position: event.position }];
  });
};

type LocatedEntry = { readonly log: OpenLog; readonly index: number; readonly entry: TrailEntry };

/** Returns the index of an entry in its log; nothing if the trail has no log, or the entry is older than it. */
const locate = ({ ordinal, entry }: NumberedEntry, logs: ReadonlyMap<string, OpenLog>): readonly LocatedEntry[] => {
  const log = logs.get(entry.auth.organization_id);
  return log && ordinal >= log.firstOrdinal ? [{ log, index: ordinal - log.firstOrdinal, entry }] : [];
};

/** Entries of a trail are in order. */
const toRanges = (entries: readonly LocatedEntry[]): readonly LeafSpan[] =>
  [...Map.groupBy(entries, ({ log }) => log.organization)].map(([organization, list]) => ({
    organization,
    from: (list[0] as LocatedEntry).index,
    to: (list.at(-1) as LocatedEntry).index,
  }));

const toKey = (organization: string, index: number): string => `${organization} ${index}`;

/**
 * Cached keys of people are good enough: if a person was forgotten meanwhile, the commitment is to a value whose salt
 * nobody can compute any more.
 */
const createFollowedOpener = (
  entries: readonly LocatedEntry[],
  { session, store }: RecorderContext,
): Promise<TextOpener> => {
  const texts = new Set<string>();
  for (const { entry } of entries) forEachString(entry, (text) => isEncryptedText(text) && texts.add(text));
  return store.personalDataCipher.createOpener(texts, 'followed', (statement) => session.run(statement));
};

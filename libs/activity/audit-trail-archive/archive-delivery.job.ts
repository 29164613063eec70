import type { Clock, Logger } from '#platform/kernel';
import type { JobRun, ScheduledJob } from '#platform/postgres';
import {
  ArchiveUnavailableError,
  computeArchiveDigest,
  type ArchiveBucket,
  type ArchiveObject,
} from '#storage/blob-store';
import type { EventStore } from '#storage/event-store';
import { openLogRange, type OpenedEntry } from '#activity/audit-trail';
import { TrailLogReader } from '#activity/audit-trail-log';
import {
  findOldestUndelivered,
  finishDelivery,
  listDueLogs,
  planDelivery,
  readCheckpointNote,
  type DeliveryPlan,
  type DueLog,
} from './archive-deliveries.queries.js';
import {
  formatCheckpointKey,
  formatDay,
  formatEntriesKey,
  formatLogFolder,
  listNewTilePaths,
} from './archive-layout.js';
import { archiveMetrics } from './archive.metrics.js';
import { formatArchivedEntry } from './archived-entry.js';

const EVERY_MS = 5 * 60 * 1_000;
const LOGS_PER_STEP = 100;
/** Usually about 5 MB. */
const ENTRIES_PER_OBJECT = 5_000;
/** An object ends after the entry that reaches this size, because it is in memory: an entry can have 64 KiB. */
const OBJECT_BYTES = 8 * 1_024 * 1_024;
const ENTRIES_PER_READ = 250;
const CONCURRENT_OBJECTS = 8;

const JSON_LINES = 'application/x-ndjson';
const BYTES = 'application/octet-stream';
const TEXT = 'text/plain; charset=utf-8';

type ArchiveDependencies = {
  readonly store: EventStore;
  readonly archive: ArchiveBucket;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Creates the job that delivers the logs of audit trails to the archive. Each delivery is planned in the database before its
 * first object, and objects are named by what they contain. So if a process is killed in between, the next one delivers the
 * same objects again, and none twice under another name, even if entries have expired meanwhile.
 */
export const createAuditArchiveJob = (dependencies: ArchiveDependencies): ScheduledJob => ({
  name: 'audit_archive',
  everyMs: EVERY_MS,
  run: (round) => new ArchiveRound(dependencies, round).run(),
});

type ReadEntries = { readonly to: number; readonly lines: readonly string[]; readonly day: string | null };

class ArchiveRound {
  private readonly logs: TrailLogReader;
  /** The first failure of a log. */
  private failure: { readonly error: unknown } | null = null;

  constructor(
    private readonly dependencies: ArchiveDependencies,
    private readonly round: JobRun,
  ) {
    this.logs = new TrailLogReader(dependencies.store.database);
  }

  /** If the archive is unavailable, the round ends. Other errors concern one log, such as an entry that was altered. */
  async run(): Promise<void> {
    const { store, archive } = this.dependencies;
    await this.report();
    let after = '';
    while (!this.round.signal.aborted) {
      const due = await listDueLogs(store.database, after, LOGS_PER_STEP);
      if (due.length === 0) break;
      if (after === '') await archive.inspect();
      for (const log of due) await this.deliverLog(log);
      after = due.at(-1)?.organization ?? '';
    }
    await this.report();
    if (this.failure) throw this.failure.error;
  }

  private async deliverLog(log: DueLog): Promise<void> {
    try {
      for (let next: DueLog | null = log; next !== null && !this.round.signal.aborted;) next = await this.deliver(next);
    } catch (error) {
      if (error instanceof ArchiveUnavailableError || this.round.signal.aborted) throw error;
      this.failure ??= { error };
      const { organization } = log;
      this.dependencies.logger.warn({ err: error, organization }, 'a log of an audit trail could not be delivered');
    }
  }

  /** Delivers one object of entries, and after the last one the tree. Returns the log if more entries are due. */
  private async deliver(log: DueLog): Promise<DueLog | null> {
    const { database } = this.dependencies.store;
    const size = log.plannedSize ?? log.size;
    const note = await readCheckpointNote(database, log, size);
    const to = await this.deliverEntries(log, size, note);
    const isComplete = to === size;
    if (isComplete) await this.addTree(log, size, note);
    const treeSize = isComplete ? size : log.treeSize;
    await database.transaction([finishDelivery(log, { to, treeSize })]);
    if (isComplete) return null;
    return { ...log, delivered: to, planned: null, plannedSize: null, plannedDay: null, plannedDigests: [] };
  }

  /** Plans and delivers the next object of entries. Returns the index after its last entry. */
  private async deliverEntries(log: DueLog, size: number, note: string): Promise<number> {
    const { store, archive } = this.dependencies;
    const { to, lines, day } = await this.readEntries(log, size);
    const isEmpty = lines.length === 0;
    const content = Buffer.from([JSON.stringify({ checkpoint: note }), ...lines, ''].join('\n'));
    // An earlier attempt can have delivered entries that have expired meanwhile.
    const digests = isEmpty ? log.plannedDigests : [...new Set([...log.plannedDigests, computeArchiveDigest(content)])];
    const plan: DeliveryPlan = { to, size, day: log.plannedDay ?? day, digests };
    await store.database.transaction([planDelivery(log, plan)]);
    if (isEmpty || plan.day === null) return to;
    const key = formatEntriesKey(formatLogFolder(log.origin), { from: log.delivered, to }, plan.day);
    await archive.add({ key, content, mediaType: JSON_LINES }, log.plannedDigests);
    this.count();
    return to;
  }

  /** Reads the planned entries, or as many as an object takes. The day is that of the first entry; null without entries. */
  private async readEntries(log: DueLog, size: number): Promise<ReadEntries> {
    const { store, logger } = this.dependencies;
    const { organization, delivered: from } = log;
    const end = log.planned ?? Math.min(size, from + ENTRIES_PER_OBJECT);
    const lines: string[] = [];
    let [day, bytes, to]: [string | null, number, number] = [null, 0, from];
    const isFull = (): boolean => log.planned === null && bytes >= OBJECT_BYTES;
    while (to < end && !isFull()) {
      const next = Math.min(end, to + ENTRIES_PER_READ);
      for (const opened of await openLogRange(store, organization, { from: to, to: next })) {
        if (isFull()) break;
        const line = formatArchivedEntry(opened);
        day ??= formatDay(getTimestamp(opened));
        bytes += Buffer.byteLength(line);
        lines.push(line);
        to = opened.index + 1;
      }
      if (!isFull()) to = next;
    }
    const missing = to - from - lines.length;
    if (missing > 0)
      logger.warn({ organization, missing }, 'entries of an audit trail were deleted before they were delivered');
    return { to, lines, day };
  }

  /** The checkpoint is last, so that a reader of the folder finds every tile of the tree that it names. */
  private async addTree(log: DueLog, size: number, note: string): Promise<void> {
    const { archive } = this.dependencies;
    const folder = formatLogFolder(log.origin);
    await this.addTiles(log.organization, folder, listNewTilePaths(log.treeSize, size));
    const checkpoint = { content: Buffer.from(note), mediaType: TEXT };
    await archive.add({ ...checkpoint, key: formatCheckpointKey(folder, size) });
    const keys = await this.logs.readKeys(log.organization);
    await archive.addVersion({ key: `${folder}/keys`, content: keys, mediaType: TEXT });
    await archive.addVersion({ ...checkpoint, key: `${folder}/checkpoint` });
    this.count(3);
  }

  private async addTiles(organization: string, folder: string, paths: readonly string[]): Promise<void> {
    const remaining = paths.values();
    const addNext = async (): Promise<void> => {
      for (const path of remaining) {
        if (this.round.signal.aborted) throw new Error('the delivery was stopped');
        const content = await this.logs.readTile(organization, path.slice('tile/'.length));
        const tile: ArchiveObject = { key: `${folder}/${path}`, content, mediaType: BYTES };
        await this.dependencies.archive.add(tile);
        this.count();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_OBJECTS }, addNext));
  }

  private count(objects = 1): void {
    archiveMetrics.objects.inc(objects);
    this.round.done(objects);
  }

  private async report(): Promise<void> {
    const { store, clock } = this.dependencies;
    const since = await findOldestUndelivered(store.database);
    archiveMetrics.oldest.set(since === null ? 0 : Math.max(0, clock.now().getTime() - Date.parse(since)) / 1_000);
  }
}

const getTimestamp = ({ entry }: OpenedEntry): string => (entry as { readonly timestamp: string }).timestamp;

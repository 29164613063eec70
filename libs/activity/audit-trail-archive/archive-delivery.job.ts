import type { Clock, Logger } from '#platform/kernel';
import type { JobRun, ScheduledJob } from '#platform/postgres';
import { ArchiveUnavailableError, type ArchiveBucket, type ArchiveObject } from '#storage/blob-store';
import type { EventStore } from '#storage/event-store';
import { openLogRange, type OpenedEntry } from '#activity/audit-trail';
import { TrailLogReader } from '#activity/audit-trail-log';
import {
  findOldestUndelivered,
  finishDelivery,
  listDueLogs,
  planDelivery,
  readCheckpointNote,
  type DueLog,
} from './archive-deliveries.queries.js';
import { formatCheckpointKey, formatEntriesKey, formatLogFolder, listNewTilePaths } from './archive-layout.js';
import { archiveMetrics } from './archive.metrics.js';
import { formatArchivedEntry } from './archived-entry.js';

const EVERY_MS = 5 * 60 * 1_000;
const LOGS_PER_STEP = 100;
/** About 5 MB, which are in memory at once. */
const ENTRIES_PER_OBJECT = 5_000;
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
 * first object, and objects are named by what they contain. So a process that is killed in between delivers the same objects
 * again, and none twice under another name.
 */
export const createAuditArchiveJob = (dependencies: ArchiveDependencies): ScheduledJob => ({
  name: 'audit_archive',
  everyMs: EVERY_MS,
  run: (round) => new ArchiveRound(dependencies, round).run(),
});

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
    const to = log.planned ?? Math.min(size, log.delivered + ENTRIES_PER_OBJECT);
    if (log.planned === null) await database.transaction([planDelivery(log, { to, size })]);
    const note = await readCheckpointNote(database, log, size);
    if (to > log.delivered) await this.addEntries(log, to, note);
    const isComplete = to === size;
    if (isComplete) await this.addTree(log, size, note);
    const treeSize = isComplete ? size : log.treeSize;
    await database.transaction([finishDelivery(log, { to, treeSize })]);
    return isComplete ? null : { ...log, delivered: to, planned: null, plannedSize: null };
  }

  private async addEntries(log: DueLog, to: number, note: string): Promise<void> {
    const { store, archive, logger } = this.dependencies;
    const { organization, origin, delivered: from } = log;
    const entries = await openLogRange(store, organization, { from, to });
    const missing = to - from - entries.length;
    if (missing > 0)
      logger.warn({ organization, missing }, 'entries of an audit trail were deleted before they were delivered');
    const [first] = entries;
    if (!first) return;
    const key = formatEntriesKey(formatLogFolder(origin), { from, to }, getTimestamp(first));
    const lines = [JSON.stringify({ checkpoint: note }), ...entries.map(formatArchivedEntry)];
    await archive.add({ key, content: Buffer.from(`${lines.join('\n')}\n`), mediaType: JSON_LINES });
    this.count();
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

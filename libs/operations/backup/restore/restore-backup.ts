import { sql, type Clock, type Sql } from '#platform/kernel';
import type { BlobStore } from '#storage/blob-store';
import {
  listViews,
  rebuildView,
  type EventStore,
  type ModuleDefinition,
  type RebuildableView,
  type TableOutsideLog,
} from '#storage/event-store';
import { StartupError } from '#platform/host';
import { computeLockKey, type DatabaseSession } from '#platform/postgres';
import type { BackupArchive } from '../format/backup-archive.js';
import type { BackupManifest } from '../format/backup-manifest.js';
import { requireMigrations } from '../migrations.queries.js';
import type { BackupControl } from '../progress.js';
import { listStoredTables } from '../stored-tables.js';
import type { RestoreCut } from './restore-cut.js';
import { restoreFiles } from './restore-files.js';
import { LogRestore, type RestoreState } from './restore-log.js';
import { passTransactions } from './restore-log.queries.js';
import { beginRestore, endRestore, readUnfinishedRestore, RESTORE_START, storeProgress } from './restore-state.js';

/** The migrated, empty site into which a backup is restored. */
export type RestoredSite = {
  readonly store: EventStore;
  readonly blobs: BlobStore;
  readonly definitions: readonly ModuleDefinition[];
  /** Names of followers without tables, which continue where they were when the backup was made. */
  readonly followers: readonly string[];
  readonly clock: Clock;
};

const RESTORE_LOCK = computeLockKey('cadastre restore');

/**
 * Restores a backup, or continues an interrupted restore of the same backup. Everything that can be computed from the
 * log is computed: versions of streams, and all views. Throws StartupError, without a change, if the database contains
 * anything else. Returns the number of events.
 */
export const restoreBackup = async (
  site: RestoredSite,
  { archive, manifest, cut }: { archive: BackupArchive; manifest: BackupManifest; cut: RestoreCut },
  control: BackupControl = {},
): Promise<number> => {
  const session = await site.store.database.session();
  try {
    await acquireRestoreLock(session);
    await requireMigrations(session, site.definitions, manifest.snapshot, { noun: 'backup', verb: 'restore' });
    const state = await beginOrContinue(session, archive.header.id, cut);
    await session.run(sql`set synchronous_commit = off`);
    return await new Restore(site, session, { archive, manifest, cut, state }, control).run();
  } finally {
    await session.close();
  }
};

const acquireRestoreLock = async (session: DatabaseSession): Promise<void> => {
  const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${RESTORE_LOCK}) as ok`);
  if (!attempt?.ok) throw new StartupError('another restore into this database is running; wait until it has ended');
};

const beginOrContinue = async (session: DatabaseSession, backup: string, cut: RestoreCut): Promise<RestoreState> => {
  const unfinished = await readUnfinishedRestore(session);
  if (unfinished) {
    const isSame = unfinished.backup === backup && JSON.stringify(unfinished.cut) === JSON.stringify(cut);
    if (isSame) return { progress: unfinished.progress };
    throw new StartupError(
      'the database contains an unfinished restore of another backup, or of another position; ' +
        'run that restore again, or use an empty database',
    );
  }
  const [log] = await session.run<{ filled: boolean }>(sql`select exists (select from event_store.events) as filled`);
  if (log?.filled) {
    throw new StartupError('the database already contains a site; restore into an empty database or data folder');
  }
  await session.run(beginRestore({ backup, cut, progress: RESTORE_START }));
  return { progress: RESTORE_START };
};

type RestoreSource = {
  readonly archive: BackupArchive;
  readonly manifest: BackupManifest;
  readonly cut: RestoreCut;
  readonly state: RestoreState;
};

class Restore {
  private readonly log: LogRestore;
  private readonly views: readonly RebuildableView[];

  constructor(
    private readonly site: RestoredSite,
    private readonly session: DatabaseSession,
    private readonly source: RestoreSource,
    private readonly control: BackupControl,
  ) {
    const { archive, manifest, cut, state } = source;
    this.log = new LogRestore(session, archive, manifest, cut, state, control);
    this.views = listViews(site.definitions);
  }

  async run(): Promise<number> {
    const { state } = this.source;
    const { definitions } = this.site;
    if (state.progress.phase === 'tables') await this.log.restoreTables(new Set(listStoredTables(definitions)));
    if (state.progress.phase === 'log') await this.log.restoreEvents();
    if (state.progress.phase === 'streams') await this.log.complete(this.listContinuedFollowers(), this.listTrims());
    await this.session.run(passTransactions(state.progress.transaction));
    if (state.progress.phase === 'files') await this.restoreAllFiles();
    await this.rebuildViews();
    await this.session.pipeline([...this.listRefills(), endRestore()]);
    return this.log.countEvents();
  }

  /** A rebuild leaves events after the checkpoint to a follower with durable rows, so its checkpoint is restored too. */
  private listContinuedFollowers(): ReadonlySet<string> {
    const durable = this.views.filter(({ follower }) => follower?.durable).map(({ name }) => name);
    return new Set([...this.site.followers, ...durable]);
  }

  private listTrims(): readonly Sql[] {
    return this.site.definitions.flatMap(({ tablesOutsideLog = [] }) =>
      tablesOutsideLog.flatMap((table) => (table.backup === 'rows' && table.trim ? [table.trim] : [])),
    );
  }

  private async restoreAllFiles(): Promise<void> {
    const { archive, manifest, state } = this.source;
    const { parts, count } = manifest.snapshot.files;
    const { next } = state.progress;
    let done = parts.slice(0, next).reduce((sum, { lines }) => sum + lines, 0);
    const onFile = (): void => this.control.report?.('files', (done += 1), count);
    for (const [index, part] of parts.entries()) {
      if (index < next) continue;
      await restoreFiles(archive, this.site.blobs, part, onFile, this.control);
      await this.store({ next: index + 1 });
    }
    await this.store({ phase: 'views', next: 0 });
  }

  private async rebuildViews(): Promise<void> {
    const { store, clock } = this.site;
    const { signal, report } = this.control;
    const total = this.log.countEvents();
    for (const [index, view] of this.views.entries()) {
      if (index < this.source.state.progress.next) continue;
      let done = 0;
      await rebuildView(store, view, {
        now: clock.now(),
        onEvents: (events) => report?.(view.name, (done += events), total),
        ...(signal ? { signal } : {}),
      });
      await this.store({ next: index + 1 });
    }
  }

  private listRefills() {
    return this.site.definitions.flatMap(({ tablesOutsideLog = [] }) =>
      tablesOutsideLog.flatMap((table: TableOutsideLog) => (table.backup === 'refill' ? [table.refill] : [])),
    );
  }

  private async store(change: Partial<RestoreState['progress']>): Promise<void> {
    const { state } = this.source;
    state.progress = { ...state.progress, ...change };
    await this.session.run(storeProgress(state.progress));
  }
}

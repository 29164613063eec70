import { z } from 'zod';
import type { LogPosition, Sql } from '#platform/kernel';
import { isAfter, storeMacKey, writeCheckpoint } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import type { BackupArchive } from '../format/backup-archive.js';
import type { BackupManifest, LogPart } from '../format/backup-manifest.js';
import type { BackupControl } from '../progress.js';
import { findCut, type CutEvent, type RestoreCut, type RestoreTarget } from './restore-cut.js';
import {
  continueIdentity,
  insertEvents,
  insertRows,
  insertStreams,
  selectRestoredPositions,
} from './restore-log.queries.js';
import { parseProgress, storeLogProgress, storeProgress, type RestoreProgress } from './restore-state.js';

const eventLine = z.object({ transaction: z.string(), position: z.number().int(), time: z.string() });

const readEventLines = async (archive: BackupArchive, part: LogPart): Promise<readonly string[]> =>
  (await archive.readLines(part)).slice(1);

const parseEvent = (line: string): CutEvent => {
  const { transaction, position, time } = eventLine.parse(JSON.parse(line));
  return { transaction, position, ms: Date.parse(time) };
};

/** Finds the end of the range in a backup: see findCut. */
export const findCutIn = (
  archive: BackupArchive,
  manifest: BackupManifest,
  target: RestoreTarget,
): Promise<RestoreCut | null> =>
  findCut(manifest, target, async (part) => (await readEventLines(archive, part)).map(parseEvent));

type RestoredPosition = { readonly transaction: string; readonly position: number };

/** The progress as it will be stored by the next statement. */
export type RestoreState = { progress: RestoreProgress };

/** Restores the tables and the log. Each step is one transaction, which also stores the progress. */
export class LogRestore {
  constructor(
    private readonly session: DatabaseSession,
    private readonly archive: BackupArchive,
    private readonly manifest: BackupManifest,
    private readonly cut: RestoreCut,
    private readonly state: RestoreState,
    private readonly control: BackupControl,
  ) {}

  async restoreTables(tables: ReadonlySet<string>): Promise<void> {
    const units = this.manifest.snapshot.tables
      .filter(({ table }) => tables.has(table))
      .flatMap(({ table, columns, parts }) => parts.map((part) => ({ table, columns, part })));
    const { next } = this.state.progress;
    for (const [index, { table, columns, part }] of units.entries()) {
      if (index < next) continue;
      this.report('tables', index, units.length);
      const lines = await this.archive.readLines(part);
      await this.session.pipeline([insertRows(table, columns, lines), this.store({ next: index + 1 })]);
    }
    const { macKey } = this.manifest.snapshot;
    await this.session.pipeline([
      ...(macKey === null ? [] : [storeMacKey(Buffer.from(macKey, 'base64'))]),
      this.store({ phase: 'log', next: 0 }),
    ]);
  }

  async restoreEvents(): Promise<void> {
    const total = this.countEvents();
    const parts = this.manifest.log.slice(0, this.cut.parts + (this.cut.events > 0 ? 1 : 0));
    let done = 0;
    for (const [index, part] of parts.entries()) {
      if (index >= this.state.progress.next) {
        this.report('events', done, total);
        const lines = await readEventLines(this.archive, part);
        await this.insert(index === this.cut.parts ? lines.slice(0, this.cut.events) : lines, index + 1);
      }
      done += part.lines - 1;
    }
    await this.session.run(this.store({ phase: 'streams', next: 0 }));
  }

  /**
   * Completes what belongs to the log: streams, numbers of new events, and positions of these followers. `trims` delete
   * rows of events that are not restored.
   */
  async complete(followers: ReadonlySet<string>, trims: readonly Sql[]): Promise<void> {
    await this.session.pipeline([
      insertStreams(),
      continueIdentity('event_store.events', 'position'),
      continueIdentity('event_store.contexts', 'id'),
      ...(await this.listCheckpoints(followers)).map(([name, position]) => writeCheckpoint(name, position)),
      ...trims,
      this.store({ phase: 'files', next: 0 }),
    ]);
  }

  countEvents(): number {
    const whole = this.manifest.log.slice(0, this.cut.parts).reduce((sum, { lines }) => sum + lines - 1, 0);
    return whole + this.cut.events;
  }

  private async insert(lines: readonly string[], next: number): Promise<void> {
    const results = await this.session.pipeline([insertEvents(lines, this.state.progress), storeLogProgress(next)]);
    this.state.progress = parseProgress(results[1]?.[0]?.['progress']);
  }

  /** The followers that read beyond the range continue at its end. */
  private async listCheckpoints(names: ReadonlySet<string>): Promise<[string, LogPosition][]> {
    const { transaction, position } = this.state.progress;
    const followers = this.manifest.snapshot.followers.filter(({ follower }) => names.has(follower));
    const rows = await this.session.run<RestoredPosition>(
      selectRestoredPositions(followers.map((follower) => follower.position)),
    );
    const restored = new Map(rows.map((row) => [row.position, row]));
    const end = await this.findEnd();
    return followers.flatMap((follower): [string, LogPosition][] => {
      if (end && isAfter(follower, end)) return [[follower.follower, { transaction, position }]];
      const own = restored.get(follower.position);
      return own ? [[follower.follower, own]] : [];
    });
  }

  /** The position of the last event of the range in the old database; null if the range is the whole log. */
  private async findEnd(): Promise<LogPosition | null> {
    if (this.cut.isWhole) return null;
    const part = this.manifest.log[this.cut.events > 0 ? this.cut.parts : this.cut.parts - 1];
    if (!part) return { transaction: '0', position: 0 };
    const lines = await readEventLines(this.archive, part);
    return parseEvent(lines.at(this.cut.events - 1) ?? '');
  }

  /** Returns the statement that stores the progress. */
  private store(change: Partial<RestoreProgress>): Sql {
    this.state.progress = { ...this.state.progress, ...change };
    return storeProgress(this.state.progress);
  }

  private report(phase: string, done: number, total: number): void {
    this.control.signal?.throwIfAborted();
    this.control.report?.(phase, done, total);
  }
}

import { sql, type Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { formatPartName, type BackupArchive } from '../format/backup-archive.js';
import { logPartHead, type BackupSnapshot, type LogPart } from '../format/backup-manifest.js';
import type { BackupControl } from '../progress.js';

const EVENTS_IN_PART = 2_000;
const FOLDER = 'log';

type EventLine = {
  readonly line: string;
  readonly transaction: string;
  readonly position: number;
  readonly ms: number;
};

/** Selects the next complete transactions that are visible in the snapshot: `limit` events, and the rest of the last one. */
const selectLines = (after: string, visible: string, limit: number): Sql => {
  const isNext = sql`e.transaction > ${after}::xid8 and pg_visible_in_snapshot(e.transaction, ${visible}::pg_snapshot)`;
  return sql`
    select row_to_json(e)::text as line, e.transaction::text as transaction, e.position,
           (extract(epoch from e.time) * 1000)::bigint as ms
      from event_store.events e
     where ${isNext} and e.transaction <= (
             select last.transaction from (
               select e.transaction, e.position from event_store.events e
                where ${isNext} order by e.transaction, e.position limit ${limit}) last
              order by last.transaction desc limit 1)
     order by e.transaction, e.position`;
};

const describePart = (rows: readonly EventLine[]) => {
  const positions = rows.map(({ position }) => position);
  return {
    lastTransaction: rows.at(-1)?.transaction ?? '0',
    minPosition: Math.min(...positions),
    maxPosition: Math.max(...positions),
    maxTime: Math.max(...rows.map(({ ms }) => ms)),
  };
};

/**
 * Writes the events of a snapshot to the backup, in the order of the log. Events never change, so this needs no open
 * transaction, and another process can continue it.
 */
export class LogExport {
  private readonly parts: LogPart[] = [];
  private events = 0;

  constructor(
    private readonly session: DatabaseSession,
    private readonly archive: BackupArchive,
    private readonly snapshot: BackupSnapshot,
    private readonly control: BackupControl,
    private readonly eventsInPart = EVENTS_IN_PART,
  ) {}

  async run(): Promise<readonly LogPart[]> {
    await this.resume();
    while (await this.writeNext());
    if (this.events !== this.snapshot.events) {
      throw new Error(`the snapshot has ${this.snapshot.events} events, but ${this.events} were read`);
    }
    return this.parts;
  }

  /** Reads the parts that an interrupted backup has written. */
  private async resume(): Promise<void> {
    for await (const { part, lines } of this.archive.readWrittenParts(FOLDER, this.control.signal)) {
      this.add({ ...part, ...logPartHead.parse(JSON.parse(lines[0] ?? '')) });
    }
  }

  private async writeNext(): Promise<boolean> {
    this.control.signal?.throwIfAborted();
    const after = this.parts.at(-1)?.lastTransaction ?? '0';
    const rows = await this.session.run<EventLine>(selectLines(after, this.snapshot.visible, this.eventsInPart));
    if (rows.length === 0) return false;
    const head = describePart(rows);
    const lines = [JSON.stringify(head), ...rows.map(({ line }) => line)];
    this.add({ ...(await this.archive.putLines(formatPartName(FOLDER, this.parts.length + 1), lines)), ...head });
    return true;
  }

  private add(part: LogPart): void {
    this.parts.push(part);
    this.events += part.lines - 1;
    this.control.report?.('events', this.events, this.snapshot.events);
  }
}

import { sql, type LogPosition, type RecordedEvent, type Sql } from '#platform/kernel';
import { buildErasureStatements } from '#storage/personal-data';
import { pause, type DatabaseSession } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { isAfter, LOG_START, toPosition } from '../log-positions.js';
import type { RebuildableView, ReplayedOrder } from './views.js';

/** The share of the machine that a replay takes from concurrent requests. */
export type ReplayPace = {
  /** Events in one transaction. Followers wait for every transaction that runs. */
  readonly page: number;
  /** Pause after each page, as a multiple of the time that the page took. */
  readonly rest: number;
};

/** The pace of a command, because an operator waits for its end. */
export const FULL_PACE: ReplayPace = { page: 4_000, rest: 0 };

type ReplayOptions = {
  readonly store: EventStore;
  readonly view: RebuildableView;
  /** Reads the log. */
  readonly reader: DatabaseSession;
  /** Writes the copies of the view's tables. */
  readonly session: DatabaseSession;
  readonly pace: ReplayPace;
  /** Called with the number of events of each page. */
  readonly onEvents: (events: number) => void;
  readonly signal?: AbortSignal | undefined;
};

type ReplayRange = {
  /** The last event to apply; null for no end. */
  readonly until?: LogPosition | null;
  /** `committed` includes events that a running transaction may still precede. For readers that exclude writers. */
  readonly extent?: 'settled' | 'committed';
  /** If false, returns as soon as less than a page is left, because a log with active writers has no end. */
  readonly isComplete: boolean;
};

/** Applies the events of the log to copies of a view's tables. Each run continues where the last one stopped. */
export class Replay {
  position: LogPosition = LOG_START;
  /** `log` as soon as the tables have unique names: in another order, two rows could have one name for a moment. */
  order: ReplayedOrder = 'any';

  constructor(private readonly options: ReplayOptions) {}

  async run({ until, extent, isComplete }: ReplayRange): Promise<void> {
    const { store, view, session, pace, signal } = this.options;
    const handle = view.createReplay(this.order);
    let page = this.read(this.position, extent);
    let write = Promise.resolve();
    for (let position = this.position; ;) {
      const started = performance.now();
      const batch = await page;
      const events = until ? batch.filter((event) => !isAfter(event, until)) : batch;
      const last = events.at(-1);
      if (!last) return write;
      const next = toPosition(last);
      // A filtered page may be incomplete, so the positions give the approximate number of events. They can be lower after
      // higher ones, because transactions that run at the same time take positions in turns.
      const read = view.only ? Math.abs(next.position - position.position) : batch.length;
      const isNearEnd = read < pace.page / 2;
      position = next;
      // The next page is read, and its statements are built, while this one is written. The session runs the reads
      // of a follower after the write.
      page = isNearEnd && !isComplete ? Promise.resolve([]) : this.read(next, extent);
      page.catch(() => undefined);
      const statements = await handle(events, session, store).catch(async (error: unknown) => {
        // If the write failed, its error is the cause.
        await write;
        throw error;
      });
      await write;
      write = this.write(statements, next, events.length);
      // The next turn reports the error.
      write.catch(() => undefined);
      signal?.throwIfAborted();
      if (pace.rest === 0 || isComplete) continue;
      await write;
      await pause((performance.now() - started) * pace.rest, signal);
    }
  }

  private async write(statements: readonly Sql[], end: LogPosition, events: number): Promise<void> {
    await this.options.session.pipeline(statements);
    this.position = end;
    this.options.onEvents(events);
  }

  private read(after: LogPosition, extent: ReplayRange['extent']): Promise<readonly RecordedEvent[]> {
    const { store, view, reader, pace } = this.options;
    return store.log.read(after, pace.page, (statement) => reader.run(statement), {
      extent,
      only: view.only,
      keepEncrypted: view.follower?.keepEncrypted,
      // Decrypts with the present keys, so that no person is named who was forgotten before the page was read.
      outside: view.names.length > 0,
    });
  }
}

export type ForgottenPerson = { readonly person: string; readonly cleaned: boolean };

export const SELECT_FORGOTTEN_PEOPLE = sql`
  select person, cleaned_at is not null as cleaned from event_store.person_keys where key is null`;

/** Erases names from the copies: events that were read before a person was forgotten contain the name. */
export const eraseNamesInCopies = async (
  session: DatabaseSession,
  { names }: RebuildableView,
  people: readonly string[],
  toCopy: (table: string) => string,
): Promise<void> => {
  await session.pipeline(buildErasureStatements(names, people, toCopy));
};

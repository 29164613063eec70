import { sql, type LogPosition, type RecordedEvent } from '#kernel';
import { buildErasureStatements } from '#personal-data';
import { pause, type DatabaseSession } from '#postgres';
import type { EventStore } from '../event-store.js';
import { isAfter, LOG_START, toPosition } from '../log-positions.js';
import type { RebuildableView } from './views.js';

/** The share of the machine that a replay takes from concurrent requests. */
export type ReplayPace = {
  /** Events in one transaction. Followers wait for every transaction that runs. */
  readonly page: number;
  /** Pause after each page, as a multiple of the time that the page took. */
  readonly rest: number;
};

/** The pace of a command, because an operator waits for its end. */
export const FULL_PACE: ReplayPace = { page: 1_000, rest: 0 };

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

  constructor(private readonly options: ReplayOptions) {}

  async run({ until, extent, isComplete }: ReplayRange): Promise<void> {
    const { store, view, session, pace, onEvents, signal } = this.options;
    let page = this.read(this.position, extent);
    for (;;) {
      const started = performance.now();
      const batch = await page;
      const events = until ? batch.filter((event) => !isAfter(event, until)) : batch;
      const last = events.at(-1);
      if (!last) return;
      const next = toPosition(last);
      const isNearEnd = next.position - this.position.position < pace.page / 2;
      // The next page is read while this one is applied. If applying fails, the next page is not awaited.
      page = isNearEnd && !isComplete ? Promise.resolve([]) : this.read(next, extent);
      page.catch(() => undefined);
      await session.pipeline(await view.apply(events, session, store));
      this.position = next;
      onEvents(events.length);
      signal?.throwIfAborted();
      if (pace.rest > 0 && !isComplete) await pause((performance.now() - started) * pace.rest, signal);
    }
  }

  private read(after: LogPosition, extent: ReplayRange['extent']): Promise<readonly RecordedEvent[]> {
    const { store, view, reader, pace } = this.options;
    return store.read(after, pace.page, (statement) => reader.run(statement), {
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

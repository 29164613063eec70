import {
  fold,
  projectEvent,
  sql,
  upcastEventData,
  type Clock,
  type Decider,
  type EventContext,
  type EventKind,
  type EventRegistry,
  type Ids,
  type LogPosition,
  type Message,
  type Projection,
  type RecordedEvent,
  type Sql,
} from '#kernel';
import {
  listUnversionedStreams,
  buildAppendStatement,
  checkEventSize,
  buildVersionChecks,
  buildStreamLocks,
} from './append-statements.js';
import { isForgottenPersonError, type Database, type DatabaseRow } from '#postgres';
import { LogSignal } from './followers/log-signal.js';
import { selectEventsAfter, selectStreamEvents, type EventRow, type LogExtent } from './log-queries.js';
import { PersonalDataCipher, type EncryptedEvents, type EventContent } from '#personal-data';
import { retryOnConflict } from './retry-on-conflict.js';
import type { StreamVersion } from './streams.js';
import {
  decideWrite,
  type AppendResult,
  type LoadedStream,
  type IdempotentWrite,
  type StreamSnapshot,
  type StreamWrite,
} from './writes.js';

/** The log: events that are appended with an expected version, and the inline views written with them. */
export class EventStore {
  readonly signal: LogSignal;
  readonly personalDataCipher: PersonalDataCipher;

  /** `encryptionKey`: 32 bytes; keys of people are kept under it. */
  constructor(
    readonly database: Database,
    readonly kinds: EventRegistry,
    readonly projections: readonly Projection[],
    private readonly clock: Clock,
    private readonly ids: Ids,
    encryptionKey: Buffer,
  ) {
    this.signal = new LogSignal(database);
    this.personalDataCipher = new PersonalDataCipher(database, kinds, encryptionKey);
  }

  /**
   * Appends to one or several streams, with the inline views, in one transaction and one round trip; in one more before
   * where somebody is named whose key this process has not had in hand yet. Then runs `read` inside it, so that an answer
   * shows exactly what was written. `conditions` are statements that come before all that is written, and fail where it
   * must not happen. `at` is the time of the events, for callers that derive data from it. Either all of it is committed when this resolves, or nothing. Throws the Postgres error: see isVersionConflictError,
   * getViolatedConstraint.
   */
  async append(
    writes: readonly StreamWrite[],
    context: EventContext,
    read: readonly Sql[] = [],
    conditions: readonly Sql[] = [],
    at: Date = this.clock.now(),
  ): Promise<AppendResult> {
    const time = at.toISOString();
    const recorded = writes.flatMap((write) => this.recorded(write, time, context));
    const sealed = await this.personalDataCipher.encrypt(recorded, {
      createdPeople: new Set(writes.filter(({ expected }) => expected === 0).map(({ stream }) => stream)),
      referencedPeople: writes.flatMap(({ snapshot }) => snapshot?.people ?? []),
      writers: [context.accessor.id],
    });
    const keptContext = sealed.eventsToStore[0]?.context ?? context;
    const statements = [
      ...conditions,
      ...buildStreamLocks(listUnversionedStreams(writes)),
      ...writes.map((write) => buildAppendStatement(write, time, keptContext, sealed.eventsToStore)),
      ...sealed.readableEvents.flatMap((event) =>
        this.projections.flatMap((projection) => projectEvent(projection, event)),
      ),
    ];
    const results = await this.written(sealed, [...statements, ...read]).catch((error: unknown) =>
      this.withoutStates(writes, error),
    );
    return { events: sealed.readableEvents, rows: results.slice(statements.length) };
  }

  /**
   * Appends those of the events whose ids the log does not have yet; resolves to the ids of these. For what comes from
   * outside, more than once, and names itself: no decision is made, no inline view shows it. `holding` are streams that
   * it must not outlive; `also` are statements that run afterwards in the same transaction.
   */
  async appendOnce(
    writes: readonly IdempotentWrite[],
    holding: readonly StreamVersion[] = [],
    also: readonly Sql[] = [],
  ): Promise<ReadonlySet<string>> {
    const time = this.clock.now().toISOString();
    // In one order, or two such appends wait for one another; and all locks before the transaction has its number.
    const ordered = writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
    const told = ordered.flatMap(({ stream, events }) =>
      events.map((event) => ({ ...this.toIdempotentEvent(event), stream })),
    );
    const writers = writes.flatMap(({ writer }) => writer ?? []);
    const sealed = await this.personalDataCipher.encrypt(told, {
      createdPeople: new Set(),
      referencedPeople: [],
      writers,
    });
    const locks = [...buildVersionChecks(holding), ...buildStreamLocks(ordered.map(({ stream }) => stream))];
    const results = await this.written(sealed, [
      ...locks,
      ...ordered.map(({ stream, organization }) => {
        const json = sql.json(sealed.eventsToStore.filter((event) => event.stream === stream));
        return sql`select event_store.append_once(${stream}, ${organization}, ${time}, ${json}) as id`;
      }),
      ...also,
    ]);
    return new Set(
      results.slice(locks.length, locks.length + ordered.length).flatMap((rows) => rows.map(({ id }) => id as string)),
    );
  }

  /** A stream's version and state, from the snapshot or, where that is missing or of an older decider, by folding. */
  async load<S, C extends Message, E extends Message>(
    stream: string,
    decider: Decider<S, C, E>,
  ): Promise<LoadedStream<S>> {
    const snapshot = await this.database.row<StreamSnapshot>(
      sql`select version, decider, state from event_store.streams where stream = ${stream}`,
    );
    return this.restore(stream, decider, snapshot);
  }

  /** As `load`, for who has read the snapshot with a statement of their own, beside other things. */
  async restore<S, C extends Message, E extends Message>(
    stream: string,
    decider: Decider<S, C, E>,
    snapshot: StreamSnapshot | undefined,
  ): Promise<LoadedStream<S>> {
    if (!snapshot) return { stream, version: 0, state: decider.initial };
    if (snapshot.decider === decider.version && snapshot.state !== null) {
      return { stream, version: snapshot.version, state: snapshot.state as S };
    }
    const events = await this.stream(stream);
    const state = fold(decider, decider.initial, events as unknown as readonly E[]);
    return { stream, version: events.length, state };
  }

  /** Everything that happened to one stream, oldest first. */
  async stream(stream: string): Promise<readonly RecordedEvent[]> {
    const rows = await this.database.rows<EventRow>(selectStreamEvents(stream));
    return this.personalDataCipher.open(rows.map((row) => this.upcast(row)));
  }

  /**
   * The next events after a position in log order, at most `limit`: see selectEventsAfter. `sealed` leaves the texts of people as
   * they are in the log; `outside` is for readers that publish them: such readers decrypt nothing with a cached key, because
   * what they publish cannot be forgotten.
   */
  async read(
    after: LogPosition,
    limit: number,
    run: (statement: Sql) => Promise<DatabaseRow[]>,
    { extent = 'settled', only = null, keepEncrypted = false, outside = false }: LogReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    const rows = await run(selectEventsAfter(after, limit, { extent, only }));
    const events = (rows as EventRow[]).map((row) => this.upcast(row));
    this.personalDataCipher.passed(events);
    if (keepEncrypted) return events;
    return outside ? this.personalDataCipher.open(events, run) : this.personalDataCipher.follow(events, run);
  }

  /**
   * Loads, decides, appends; again from the start where somebody else was faster, so that of a hundred racing commands
   * exactly one wins and the others are decided on what it did. A command that yields no event changes nothing.
   */
  async handle<S, C extends Message, E extends Message, L extends LoadedStream<S>>(task: {
    readonly decider: Decider<S, C, E>;
    readonly load: () => Promise<L>;
    readonly command: (loaded: L) => C;
    readonly organization: (loaded: L) => string | null;
    readonly context: EventContext;
    /** Streams that the decision counts on besides its own, and those that it ends along with it. */
    readonly preconditions?: (loaded: L) => readonly StreamWrite[];
    readonly read?: (loaded: L) => readonly Sql[];
    /** Statements that come before all that is written, as for append. */
    readonly conditions?: (loaded: L) => readonly Sql[];
  }): Promise<{ readonly loaded: L; readonly rows: readonly DatabaseRow[][] }> {
    return this.untilFirst(async () => {
      const loaded = await task.load();
      const write = decideWrite(task.decider, loaded, task.organization(loaded), task.command(loaded));
      const read = task.read?.(loaded) ?? [];
      if (write.events.length === 0) {
        return { loaded, rows: await Promise.all(read.map((statement) => this.database.rows(statement))) };
      }
      const writes = [...(task.preconditions?.(loaded) ?? []), write];
      const { rows } = await this.append(writes, task.context, read, task.conditions?.(loaded));
      return { loaded, rows };
    });
  }

  /**
   * Does the work again, reading included, as often as somebody else was faster; `races` names unique constraints that
   * say so as well.
   */
  async untilFirst<T>(
    work: () => Promise<T>,
    { races = [] }: { readonly races?: string | readonly string[] } = {},
  ): Promise<T> {
    return retryOnConflict(work, [races].flat());
  }

  /** In one transaction; then followers are told. Resolves to the rows of each statement. */
  private async written(
    { guards, keys, ended }: Pick<EncryptedEvents<EventContent>, 'guards' | 'keys' | 'ended'>,
    statements: readonly Sql[],
  ): Promise<DatabaseRow[][]> {
    try {
      const results = await this.database.transaction([...guards, ...statements, ...keys]);
      ended();
      this.signal.notify();
      return results.slice(guards.length, guards.length + statements.length);
    } catch (error) {
      ended(error);
      throw error;
    }
  }

  /** What was decided on a state that names somebody who has been forgotten is decided anew, on one that is folded anew. */
  private async withoutStates(writes: readonly StreamWrite[], error: unknown): Promise<never> {
    if (isForgottenPersonError(error)) {
      const streams = writes.map(({ stream }) => stream);
      await this.database.rows(
        sql`update event_store.streams set decider = null, state = null where stream = any (${streams}::text[])`,
      );
    }
    throw error;
  }

  private recorded(write: StreamWrite, time: string, context: EventContext): RecordedEvent[] {
    return write.events.map((event, index) => {
      const kind = this.kind(event.type);
      // Strict: a field that the schema does not name must never enter an immutable log.
      const data: unknown = kind.schema.parse(event.data);
      return {
        type: event.type,
        data,
        id: this.ids.uuid(),
        stream: write.stream,
        version: write.expected === 'any' ? 0 : write.expected + index + 1,
        schemaVersion: kind.schemaVersion,
        organization: write.organization,
        time,
        context,
        transaction: '0',
        position: 0,
      };
    });
  }

  private toIdempotentEvent({ id, type, data: given, context }: IdempotentWrite['events'][number]) {
    if (this.projections.some(({ on }) => type in on)) throw new Error(`an inline view would miss an ${type}`);
    const { schema, schemaVersion } = this.kind(type);
    const data: unknown = schema.parse(given);
    checkEventSize(sql.json(data));
    return { id, type, schemaVersion, data, context };
  }

  private kind(type: string): EventKind<never> {
    const kind = this.kinds[type];
    if (!kind) throw new Error(`no slice knows an event named ${type}`);
    return kind;
  }

  /** An event as today's code knows it, whatever schema version it was written in. */
  upcast(row: RecordedEvent): RecordedEvent {
    const kind = this.kind(row.type);
    if (row.schemaVersion === kind.schemaVersion) return row;
    return { ...row, schemaVersion: kind.schemaVersion, data: upcastEventData(kind, row.schemaVersion, row.data) };
  }
}

type LogReadOptions = {
  readonly extent?: LogExtent['extent'] | undefined;
  readonly only?: LogExtent['only'] | undefined;
  readonly keepEncrypted?: boolean | undefined;
  readonly outside?: boolean | undefined;
};

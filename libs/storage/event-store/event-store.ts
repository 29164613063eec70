import {
  fold,
  getEventKind,
  projectEvent,
  sql,
  type Clock,
  type Decider,
  type EventContext,
  type EventRegistry,
  type Ids,
  type Message,
  type Projection,
  type RecordedEvent,
  type Sql,
} from '#platform/kernel';
import {
  buildAppendStatement,
  checkEventSize,
  buildVersionChecks,
  buildStreamLocks,
  buildWriteLocks,
} from './append-statements.js';
import {
  castRows,
  isForgottenPersonError,
  toStatement,
  type Database,
  type DatabaseRow,
  type KeyedQuery,
} from '#platform/postgres';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { withSpan } from '#platform/tracing';
import { AppendQueue } from './append-queue.js';
import { LogSignal } from './followers/log-signal.js';
import { LogReader } from './log-reader.js';
import { PersonalDataCipher, type EncryptedEvents, type EventContent } from '#storage/personal-data';
import { describeAppend } from './append-spans.js';
import { retryOnConflict } from './retry-on-conflict.js';
import type { StreamVersion } from './streams.js';
import {
  decideWrite,
  recordEvents,
  type AppendResult,
  type LoadedStream,
  type IdempotentWrite,
  type StreamSnapshot,
  type StreamWrite,
} from './writes.js';

/** The log: appends events with an expected version, together with the inline views. */
export class EventStore {
  readonly signal: LogSignal;
  readonly personalDataCipher: PersonalDataCipher;
  readonly log: LogReader;
  private readonly queue: AppendQueue;

  /** `encryptionKeys` encrypt the keys of people. */
  constructor(
    readonly database: Database,
    readonly kinds: EventRegistry,
    readonly projections: readonly Projection[],
    private readonly clock: Clock,
    readonly ids: Ids,
    private readonly encryptionKeys: EncryptionKeys,
  ) {
    this.signal = new LogSignal(database);
    this.queue = new AppendQueue(database);
    this.personalDataCipher = new PersonalDataCipher(database, kinds, encryptionKeys);
    this.log = new LogReader(database, kinds, this.personalDataCipher);
  }

  /** Returns the encryption of secrets that a module stores beside the log, in a column of its `encryptedColumns`. */
  createEnvelope(purpose: string): Envelope {
    return new Envelope(this.encryptionKeys, purpose);
  }

  /**
   * Appends to one or several streams, with the inline views, in one transaction and one round trip, which appends of
   * other requests may share. Another round trip comes first if this process has to read the key of a person. Then runs
   * `read` in the same transaction, so that the response shows exactly what was written. `conditions` are statements that
   * run before all writes and fail if the append must not happen. `at` is the time of the events, for callers that derive
   * data from it. When this resolves, everything is committed. If it rejects, nothing is. Throws the Postgres error: see
   * isVersionConflictError and getViolatedConstraint.
   */
  append(
    writes: readonly StreamWrite[],
    context: EventContext,
    read: readonly (Sql | KeyedQuery)[] = [],
    conditions: readonly Sql[] = [],
    at: Date = this.clock.now(),
  ): Promise<AppendResult> {
    return withSpan(
      'append',
      () => describeAppend(writes),
      (traceparent) => this.appendInTrace({ writes, context, read, conditions, time: at.toISOString(), traceparent }),
    );
  }

  private async appendInTrace({
    writes,
    context,
    read,
    conditions,
    time,
    traceparent,
  }: TracedAppend): Promise<AppendResult> {
    const recorded = writes.flatMap((write) => recordEvents(this.kinds, this.ids, write, context, () => time));
    const encrypted = await this.personalDataCipher.encrypt(recorded, {
      createdPeople: new Set(writes.filter(({ expected }) => expected === 0).map(({ stream }) => stream)),
      referencedPeople: writes.flatMap(({ snapshot }) => snapshot?.people ?? []),
      // An event that another event caused is no request of its caller, who may have been forgotten since.
      writers: context.causation === null ? [context.accessor.id] : [],
    });
    const encryptedContext = encrypted.eventsToStore[0]?.context ?? context;
    const prepared = {
      writes,
      appends: writes.map((write) =>
        buildAppendStatement(write, time, encryptedContext, encrypted.eventsToStore, traceparent),
      ),
      projections: encrypted.readableEvents.flatMap((event) =>
        this.projections.flatMap((projection) => projectEvent(projection, event)),
      ),
      reads: read,
    };
    const rows = await this.commit(prepared, encrypted, conditions).catch((error: unknown) =>
      this.withoutStates(writes, error),
    );
    return { events: encrypted.readableEvents, rows };
  }

  /**
   * Appends the events whose ids the log does not contain yet. Resolves to the ids of these events. For events from
   * outside that have their own ids and may arrive more than once: there is no decision, and no inline view may show
   * them. `preconditions` are streams whose version must not have changed. `also` are statements that run afterwards in
   * the same transaction.
   */
  appendOnce(
    writes: readonly IdempotentWrite[],
    preconditions: readonly StreamVersion[] = [],
    also: readonly Sql[] = [],
  ): Promise<ReadonlySet<string>> {
    return withSpan(
      'append once',
      () => describeAppend(writes),
      (traceparent) => this.appendOnceInTrace(writes, preconditions, also, traceparent),
    );
  }

  private async appendOnceInTrace(
    writes: readonly IdempotentWrite[],
    preconditions: readonly StreamVersion[],
    also: readonly Sql[],
    traceparent: string | null,
  ): Promise<ReadonlySet<string>> {
    const time = this.clock.now().toISOString();
    // Always in the same order, so that two such appends cannot wait for each other. All locks are acquired before the
    // transaction gets its id.
    const ordered = writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
    const eventsToAppend = ordered.flatMap(({ stream, events }) =>
      events.map((event) => {
        const own = event.traceparent ?? traceparent;
        return { ...this.toIdempotentEvent(event), stream, ...(own && { traceparent: own }) };
      }),
    );
    const writers = writes.flatMap(({ writer }) => writer ?? []);
    const encrypted = await this.personalDataCipher.encrypt(eventsToAppend, {
      createdPeople: new Set(),
      referencedPeople: [],
      writers,
    });
    const locks = [...buildVersionChecks(preconditions), ...buildStreamLocks(ordered.map(({ stream }) => stream))];
    const results = await this.written(encrypted, [
      ...locks,
      ...ordered.map(({ stream, organization }) => {
        const json = sql.json(encrypted.eventsToStore.filter((event) => event.stream === stream));
        return sql`select event_store.append_once(${stream}, ${organization}, ${time}, ${json}) as id`;
      }),
      ...also,
    ]);
    return new Set(
      results
        .slice(locks.length, locks.length + ordered.length)
        .flatMap((rows) => castRows<{ id: string }>(rows).map(({ id }) => id)),
    );
  }

  /**
   * Returns a stream's version and state. The state comes from the snapshot or, if that is missing or from another
   * version of the decider, from folding the events.
   */
  async load<S, C extends Message, E extends Message>(
    stream: string,
    decider: Decider<S, C, E>,
  ): Promise<LoadedStream<S>> {
    const snapshot = await this.database.row<StreamSnapshot>(
      sql`select version, decider, state from event_store.streams where stream = ${stream}`,
    );
    return this.restore(stream, decider, snapshot);
  }

  /** Like `load`, for callers that have read the snapshot with their own statement. */
  async restore<S, C extends Message, E extends Message>(
    stream: string,
    decider: Decider<S, C, E>,
    snapshot: StreamSnapshot | null | undefined,
  ): Promise<LoadedStream<S>> {
    if (!snapshot) return { stream, version: 0, state: decider.initial };
    if (snapshot.decider === decider.version && snapshot.state !== null) {
      return { stream, version: snapshot.version, state: snapshot.state as S };
    }
    const events = await this.log.stream(stream);
    const state = fold(decider, decider.initial, events as unknown as readonly E[]);
    return { stream, version: events.length, state };
  }

  /**
   * Loads, decides and appends. Repeats this from the start after a conflict with another writer, so that exactly one
   * of a hundred concurrent commands wins and the others are decided with its result. A command without events changes
   * nothing.
   */
  async handle<S, C extends Message, E extends Message, L extends LoadedStream<S>>(task: {
    readonly decider: Decider<S, C, E>;
    readonly load: () => Promise<L>;
    readonly command: (loaded: L) => C;
    readonly organization: (loaded: L) => string | null;
    readonly context: EventContext;
    /** Other streams that the decision depends on, and streams that it ends. */
    readonly preconditions?: (loaded: L) => readonly StreamWrite[];
    readonly read?: (loaded: L) => readonly (Sql | KeyedQuery)[];
    /** Statements that run before all writes, as for `append`. */
    readonly conditions?: (loaded: L) => readonly Sql[];
  }): Promise<{ readonly loaded: L; readonly rows: readonly DatabaseRow[][]; readonly isAppended: boolean }> {
    return this.retryOnConflict(async () => {
      const loaded = await task.load();
      const write = decideWrite(task.decider, loaded, task.organization(loaded), task.command(loaded));
      const read = task.read?.(loaded) ?? [];
      if (write.events.length === 0) {
        const rows = await Promise.all(read.map((query) => this.database.rows(toStatement(query))));
        return { loaded, rows, isAppended: false };
      }
      const writes = [...(task.preconditions?.(loaded) ?? []), write];
      const { rows } = await this.append(writes, task.context, read, task.conditions?.(loaded));
      return { loaded, rows, isAppended: true };
    });
  }

  /**
   * Repeats the work, including its reads, after a conflict with another writer. `races` names unique constraints whose
   * violation counts as such a conflict.
   */
  async retryOnConflict<T>(
    work: () => Promise<T>,
    { races = [] }: { readonly races?: string | readonly string[] } = {},
  ): Promise<T> {
    return retryOnConflict(work, [races].flat());
  }

  /** Runs an append together with others if it can share their transaction. Resolves to the rows of its reads. */
  private commit(
    append: PreparedAppend,
    encrypted: EncryptedEvents<RecordedEvent>,
    conditions: readonly Sql[],
  ): Promise<DatabaseRow[][]> {
    const { writes, appends, projections, reads } = append;
    const statements = [...conditions, ...buildWriteLocks(writes), ...appends, ...projections];
    const alone = async () => {
      const results = await this.written(encrypted, [...statements, ...reads.map(toStatement)]);
      return results.slice(statements.length);
    };
    const { people, ended } = encrypted;
    const isLong = statements.length + reads.length >= MAX_SHARED_STATEMENTS;
    if (people === null || conditions.length > 0 || isLong) return alone();
    return this.queue.run({
      writes,
      appends: appends.filter((_, n) => (writes[n]?.events.length ?? 0) > 0),
      projections,
      reads,
      people: people.guarded,
      writers: people.writers,
      alone,
      ended: (error) => {
        ended(error);
        if (error === undefined) this.signal.notify();
      },
    });
  }

  /** Runs the statements in one transaction and then notifies followers. Resolves to the rows of each statement. */
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

  /**
   * Drops the snapshots after a decision with the name of a forgotten person. The decision is repeated with a state
   * that is folded again.
   */
  private async withoutStates(writes: readonly StreamWrite[], error: unknown): Promise<never> {
    if (isForgottenPersonError(error)) {
      const streams = writes.map(({ stream }) => stream);
      await this.database.rows(
        sql`update event_store.streams set decider = null, state = null where stream = any (${streams}::text[])`,
      );
    }
    throw error;
  }

  private toIdempotentEvent({ id, type, data: eventData, context }: IdempotentWrite['events'][number]) {
    if (this.projections.some(({ on }) => type in on))
      throw new Error(`an inline view shows ${type}, so it cannot be appended as an event from outside`);
    const { schema, schemaVersion } = getEventKind(this.kinds, type);
    const data: unknown = schema.parse(eventData);
    checkEventSize(sql.json(data));
    return { id, type, schemaVersion, data, context };
  }
}

/** Longer appends do not share a transaction: they would delay others. */
const MAX_SHARED_STATEMENTS = 50;

type TracedAppend = {
  readonly writes: readonly StreamWrite[];
  readonly context: EventContext;
  readonly read: readonly (Sql | KeyedQuery)[];
  readonly conditions: readonly Sql[];
  readonly time: string;
  readonly traceparent: string | null;
};

type PreparedAppend = {
  readonly writes: readonly StreamWrite[];
  /** One for each write. */
  readonly appends: readonly Sql[];
  readonly projections: readonly Sql[];
  readonly reads: readonly (Sql | KeyedQuery)[];
};

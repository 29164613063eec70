import {
  fold,
  project,
  sql,
  unavailable,
  unprocessable,
  upcast,
  type Clock,
  type Decider,
  type EventContext,
  type EventKind,
  type EventRegistry,
  type Ids,
  type LogPosition,
  type Message,
  type Projection,
  type Recorded,
  type Sql,
} from '#kernel';
import type { Database, Row } from './database.js';
import { LogSignal } from './log-signal.js';
import { brokenUnique, isStale, isWorthRepeating } from './postgres-errors.js';
import { writeOf, type Appended, type Loaded, type Snapshot, type Write } from './writes.js';

const ATTEMPTS = 40;
const PAUSE_MAX_MS = 100;
/** Kafka's brokers take messages of 1 MB unless told otherwise: one event above that would stop all publishing. */
const EVENT_MAX_BYTES = 768 * 1_024;

/** The first repeats come at once; then they spread out, so that many who race for one stream do not race for ever. */
const pauseBefore = async (attempt: number): Promise<void> => {
  if (attempt < 3) return;
  const longest = Math.min(2 ** attempt, PAUSE_MAX_MS);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
};

/** The log: events that are appended with an expected version, and the inline views written with them. */
export class EventStore {
  readonly signal: LogSignal;

  constructor(
    readonly database: Database,
    readonly kinds: EventRegistry,
    readonly projections: readonly Projection[],
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {
    this.signal = new LogSignal(database);
  }

  /**
   * Appends to one or several streams, with the inline views, in one transaction and one round trip; then runs `read`
   * inside it, so that an answer shows exactly what was written. `conditions` are statements that come first, and fail
   * where it must not happen. Either all of it is committed when this resolves, or nothing. Throws the Postgres error:
   * see isStale, brokenUnique.
   */
  async append(
    writes: readonly Write[],
    context: EventContext,
    read: readonly Sql[] = [],
    conditions: readonly Sql[] = [],
  ): Promise<Appended> {
    const time = this.clock.now().toISOString();
    const events = writes.flatMap((write) => this.recorded(write, time, context));
    const appends = writes.map((write) => appendStatement(write, time, context, events));
    const views = events.flatMap((event) => this.projections.flatMap((projection) => project(projection, event)));
    const first = [...conditions, ...locksOf(writes)];
    const results = await this.database.transaction([...first, ...appends, ...views, ...read]);
    this.signal.notify();
    return { events, rows: results.slice(first.length + appends.length + views.length) };
  }

  /** Appends events whose ids may have been recorded before; then nothing happens and it resolves to false. */
  async appendOnce(write: Write & { readonly ids: readonly string[] }, context: EventContext): Promise<boolean> {
    const time = this.clock.now().toISOString();
    const events = this.recorded(write, time, context).map((event, n) => ({ ...event, id: write.ids[n] ?? event.id }));
    const views = events.flatMap((event) => this.projections.flatMap((projection) => project(projection, event)));
    try {
      await this.database.transaction([appendStatement(write, time, context, events), ...views]);
    } catch (error) {
      if (brokenUnique(error) === 'events_id_key') return false;
      throw error;
    }
    this.signal.notify();
    return true;
  }

  /** A stream's version and state, from the snapshot or, where that is missing or of an older decider, by folding. */
  async load<S, C extends Message, E extends Message>(stream: string, decider: Decider<S, C, E>): Promise<Loaded<S>> {
    const snapshot = await this.database.row<Snapshot>(
      sql`select version, decider, state from event_store.streams where stream = ${stream}`,
    );
    return this.restore(stream, decider, snapshot);
  }

  /** As `load`, for who has read the snapshot with a statement of their own, beside other things. */
  async restore<S, C extends Message, E extends Message>(
    stream: string,
    decider: Decider<S, C, E>,
    snapshot: Snapshot | undefined,
  ): Promise<Loaded<S>> {
    if (!snapshot) return { stream, version: 0, state: decider.initial };
    if (snapshot.decider === decider.version && snapshot.state !== null) {
      return { stream, version: snapshot.version, state: snapshot.state as S };
    }
    const events = await this.stream(stream);
    const state = fold(decider, decider.initial, events as unknown as readonly E[]);
    return { stream, version: events.length, state };
  }

  /** Everything that happened to one stream, oldest first. */
  async stream(stream: string): Promise<Recorded[]> {
    const rows = await this.database.rows<EventRow>(
      sql`select ${EVENT_COLUMNS} from event_store.events where stream = ${stream} order by version`,
    );
    return rows.map((row) => this.lift(row));
  }

  /**
   * The next events after a position in log order, at most `limit`, only those that no transaction still running can
   * precede: none is missed, none comes twice. Ordered by `e.transaction`: without the `e.` it would be the text that is
   * selected under that name, and transaction 1000 would come before 999.
   *
   * `committed` gives what lies beyond a running transaction too: for who holds one snapshot, or keeps writers out. Of
   * `only` these types come, and the last of what was looked at, whatever it is: it says how far that was.
   */
  async read(
    after: LogPosition,
    limit: number,
    run: (statement: Sql) => Promise<Row[]>,
    extent: 'settled' | 'committed' = 'settled',
    only: readonly string[] | null = null,
  ): Promise<Recorded[]> {
    const settled = sql`transaction < pg_snapshot_xmin(pg_current_snapshot())`;
    const next = (columns: Sql): Sql => sql`
      select ${columns} from event_store.events e
       where (transaction, position) > (${after.transaction}::xid8, ${after.position}::bigint)
         and ${extent === 'settled' ? settled : sql`true`}
       order by e.transaction, e.position limit ${limit}`;
    const rows = await run(
      only === null
        ? next(EVENT_COLUMNS)
        : sql`
          select ${EVENT_COLUMNS} from (
            select *, row_number() over (order by e.transaction desc, e.position desc) as from_end
              from (${next(sql.raw('e.*'))}) e) e
           where type = any (${only}::text[]) or from_end = 1
           order by e.transaction, e.position`,
    );
    return (rows as EventRow[]).map((row) => this.lift(row));
  }

  /**
   * Loads, decides, appends; again from the start where somebody else was faster, so that of a hundred racing commands
   * exactly one wins and the others are decided on what it did. A command that yields no event changes nothing.
   */
  async handle<S, C extends Message, E extends Message, L extends Loaded<S>>(task: {
    readonly decider: Decider<S, C, E>;
    readonly load: () => Promise<L>;
    readonly command: (loaded: L) => C;
    readonly organization: (loaded: L) => string | null;
    readonly context: EventContext;
    /** Streams that the decision counts on besides its own, and those that it ends along with it. */
    readonly holding?: (loaded: L) => readonly Write[];
    readonly read?: (loaded: L) => readonly Sql[];
  }): Promise<{ readonly loaded: L; readonly rows: readonly Row[][] }> {
    return this.untilFirst(async () => {
      const loaded = await task.load();
      const write = writeOf(task.decider, loaded, task.organization(loaded), task.command(loaded));
      const read = task.read?.(loaded) ?? [];
      if (write.events.length === 0) {
        return { loaded, rows: await Promise.all(read.map((statement) => this.database.rows(statement))) };
      }
      const { rows } = await this.append([...(task.holding?.(loaded) ?? []), write], task.context, read);
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
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const broken = brokenUnique(error);
        const raced = broken !== null && [races].flat().includes(broken);
        const lost = isStale(error) || isWorthRepeating(error) || raced;
        if (!lost) throw error;
        if (attempt === ATTEMPTS) throw unavailable('Too many are changing this at once. Please try again.', 1);
        await pauseBefore(attempt);
      }
    }
  }

  private recorded(write: Write, time: string, context: EventContext): Recorded[] {
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

  private kind(type: string): EventKind<never> {
    const kind = this.kinds[type];
    if (!kind) throw new Error(`no slice knows an event named ${type}`);
    return kind;
  }

  /** An event as today's code knows it, whatever schema version it was written in. */
  lift(row: Recorded): Recorded {
    const kind = this.kind(row.type);
    if (row.schemaVersion === kind.schemaVersion) return row;
    return { ...row, schemaVersion: kind.schemaVersion, data: upcast(kind, row.schemaVersion, row.data) };
  }
}

type EventRow = Recorded & Row;

const EVENT_COLUMNS = sql.raw(`transaction::text as transaction, position, id, stream, version, type,
  schema_version as "schemaVersion", organization, time, data, context`);

/**
 * A stream that is written at any version must be ours before the transaction has its number, or whoever writes it in
 * between comes later in the log with an earlier version. event_store.append sees to that for the first stream only.
 */
const locksOf = (writes: readonly Write[]): Sql[] => {
  const streams = writes.filter(({ expected }) => expected === 'any').map(({ stream }) => stream);
  if (writes.length < 2) return [];
  // In one order, or two such appends wait for one another.
  return streams.toSorted().map((stream) => sql`select pg_advisory_xact_lock(event_store.lock_of(${stream}))`);
};

const appendStatement = (write: Write, time: string, context: EventContext, recorded: readonly Recorded[]): Sql => {
  if (write.events.length === 0) return sql`select event_store.expect(${write.stream}, ${write.expected})`;
  const events = recorded
    .filter((event) => event.stream === write.stream)
    .map(({ id, type, schemaVersion, data }) => ({ id, type, schemaVersion, data }));
  const json = sql.json(events);
  if (json.length > EVENT_MAX_BYTES) throw unprocessable('The change is too large to be recorded as one event');
  const expected = write.expected === 'any' ? null : write.expected;
  const state = write.snapshot ? sql.json(write.snapshot.state) : null;
  return sql`select event_store.append(${write.stream}, ${expected}, ${write.organization}, ${time},
    ${sql.json(context)}, ${json}, ${write.snapshot?.decider ?? null}, ${state})`;
};

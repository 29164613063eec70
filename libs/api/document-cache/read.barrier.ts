import { Logger } from '@nestjs/common';
import { selectOutdatedCallers, toCheckedCaller, type Identity } from '#api/access';
import { MAX_LOG_CHANGES, selectLogChanges, selectViewsState, type LogChange } from '#storage/event-store';
import { sql, type Sql } from '#platform/kernel';
import { isStatementTimeout, type Database, type DatabaseSession } from '#platform/postgres';
import { cacheMetrics } from './document-cache.metrics.js';
import type { ResourceKeys, ResourceReader, LoadedRow } from './resources-in-memory.js';

type BarrierRow = {
  readonly snapshot: string;
  /** Null while views change without events. */
  readonly views: string | null;
  readonly restored: boolean;
  /** Positions of callers, from 1. */
  readonly outdated: readonly number[];
  readonly changes: readonly LogChange[];
};

type WaitingRead = {
  readonly identity: Identity;
  readonly keys: ResourceKeys;
  readonly onChecked: (isCurrent: boolean) => void;
};

const countKeys = ({ ids, names }: ResourceKeys): number => ids.length + names.length;

/** Reads of one check, and their keys without duplicates. */
type CheckBatch = { readonly requests: readonly WaitingRead[]; readonly keys: ResourceKeys };

const mergeKeys = (requests: readonly WaitingRead[]): ResourceKeys => {
  const all = requests.filter(({ keys }) => countKeys(keys) > 0).map(({ keys }) => keys);
  if (all.length <= 1) return all[0] ?? NO_KEYS;
  const names = new Map(all.flatMap((keys) => keys.names.map((each) => [`${each.organization}/${each.name}`, each])));
  return { ids: [...new Set(all.flatMap(({ ids }) => ids))], names: [...names.values()] };
};

/** More resources are read by the next check, so that requests whose resources are in memory do not wait long. */
const MAX_KEYS = 200;

const NO_KEYS: ResourceKeys = { ids: [], names: [] };

const NONE: ReadonlySet<WaitingRead> = new Set();

/** Only the first row has the columns of the check, and each row those of a resource, if resources were read. */
type CheckRow = (BarrierRow | { readonly [column in keyof BarrierRow]: null }) & {
  readonly [column: string]: unknown;
  readonly id?: string | null;
};

type CheckResult = { readonly row: BarrierRow; readonly resources: readonly LoadedRow[] };

const isResource = (row: CheckRow): row is CheckRow & LoadedRow => typeof row.id === 'string';

/** The snapshot and the state of the views of the last check. */
type Checked = { readonly snapshot: string; readonly views: string };

/** A check takes less than a millisecond. After this time its requests read Postgres themselves. */
const TIMEOUT_MS = 1_000;
/** After this time the connection is replaced. Postgres has time to report that it cancelled a statement. */
const ANSWER_TIMEOUT_MS = 2 * TIMEOUT_MS;
const RECONNECT_MS = 1_000;

const SET_UP: readonly Sql[] = [
  // The statement has one good plan, and planning it takes longer than running it.
  sql.raw('set plan_cache_mode = force_generic_plan'),
  sql.raw(`set statement_timeout = ${TIMEOUT_MS}`),
];

/**
 * Adds the rows of the missing resources to the row of the check, so that both belong to one snapshot. Only the first row
 * has the result of the check, which can be as large as all resources.
 */
const withResources = (check: Sql, resources: Sql): Sql => sql`
  select *
    from (select 1::bigint as position, result.* from (${check}) result) checked
    full join (select row_number() over () as position, loaded.* from (${resources}) loaded) resource using (position)
   order by position`;

const selectBarrier = (before: Checked | null, callers: string): Sql => sql`
  select pg_current_snapshot()::text as snapshot, ${selectViewsState()} as views,
         coalesce(pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax(${before?.snapshot ?? null}::pg_snapshot),
                  false) as restored,
         array(${selectOutdatedCallers(callers)})::integer[] as outdated,
         ${selectLogChanges(before?.snapshot ?? null)} as changes`;

const checkedCallers = new WeakMap<Identity, string>();

const toCallerJson = (identity: Identity): string => {
  let json = checkedCallers.get(identity);
  if (json === undefined) checkedCallers.set(identity, (json = JSON.stringify(toCheckedCaller(identity))));
  return json;
};

/**
 * Lets requests be answered from memory as exactly as from Postgres (ADR 45). A request passes when a statement whose
 * snapshot is younger than the request has found which events are new since the previous statement, and that the
 * caller's access has not changed. All requests that wait at the same time share one statement.
 *
 * The statements run one after another on a connection of their own. If it is lost, nothing passes until a new one is
 * ready.
 */
export class ReadBarrier {
  private readonly logger = new Logger(ReadBarrier.name);
  private waiting: WaitingRead[] = [];
  private isBusy = false;
  private session: DatabaseSession | null = null;
  private checked: Checked | null = null;
  private opening: Promise<void> | null = null;
  private retryAt = Number.NEGATIVE_INFINITY;
  private isClosed = false;
  private closing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly reader: ResourceReader,
  ) {}

  /** Whether requests can pass. If not, a new attempt to open the barrier starts in the background. */
  get isOpen(): boolean {
    if (this.checked) return true;
    void this.open();
    return false;
  }

  /** Resolves after an attempt to open the barrier. Never rejects. */
  open(): Promise<void> {
    if (this.checked || this.isClosed || performance.now() < this.retryAt) return Promise.resolve();
    this.opening ??= this.tryOpen().finally(() => (this.opening = null));
    return this.opening;
  }

  /** Calls `onChecked` with whether the answer may come from memory, after the resources with these keys were read. */
  pass(identity: Identity, onChecked: (isCurrent: boolean) => void, keys = NO_KEYS): void {
    this.waiting.push({ identity, keys, onChecked });
    if (this.isBusy) return;
    this.isBusy = true;
    this.scheduleCheck();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.opening;
    this.lose();
    await this.closing;
  }

  /** Waits for the end of the turn of the event loop: requests that arrived in it share the statement. */
  private scheduleCheck(): void {
    setImmediate(() => void this.checkWaiting());
  }

  private async checkWaiting(): Promise<void> {
    const { requests, keys } = this.takeBatch();
    const passed = await this.check(requests, keys);
    for (const request of requests) request.onChecked(passed.has(request));
    if (this.waiting.length > 0) this.scheduleCheck();
    else this.isBusy = false;
  }

  /** Takes the requests that share the next check: all, or the first ones if they need too many resources. */
  private takeBatch(): CheckBatch {
    let keys = 0;
    const end = this.waiting.findIndex((each, n) => (keys += countKeys(each.keys)) > MAX_KEYS && n > 0);
    const requests = this.waiting.splice(0, end === -1 ? this.waiting.length : end);
    return { requests, keys: mergeKeys(requests) };
  }

  /** Returns the requests that pass: none if the check failed. Never rejects. */
  private async check(requests: readonly WaitingRead[], keys: ResourceKeys): Promise<ReadonlySet<WaitingRead>> {
    const { session, checked } = this;
    if (!session || !checked) return NONE;
    const callers = [...new Set(requests.map(({ identity }) => identity))];
    try {
      const { row, resources } = await this.run(session, checked, callers, keys);
      // The end of the connection can arrive with the response. Then nothing passes until there is a new connection.
      if (this.session !== session || !this.accept(row, checked)) return NONE;
      if (countKeys(keys) > 0) this.reader.onRead(keys, resources);
      const outdated = new Set(row.outdated.map((position) => callers[position - 1]));
      return new Set(requests.filter(({ identity }) => !outdated.has(identity)));
    } catch (error) {
      // Large resources must not cost all that is in memory. The handlers answer the requests that need them.
      if (countKeys(keys) > 0 && this.session === session && isStatementTimeout(error))
        return this.check(
          requests.filter((each) => countKeys(each.keys) === 0),
          NO_KEYS,
        );
      this.logger.warn(`documents are read from Postgres until the connection is replaced: ${String(error)}`);
      this.lose();
      return NONE;
    }
  }

  /** Reports the changes of a check. Returns false if everything may have changed. */
  private accept({ snapshot, views, restored, changes }: BarrierRow, before: Checked): boolean {
    if (views === null) {
      this.checked = null;
      this.reader.onUnknownChanges();
      return false;
    }
    this.checked = { snapshot, views };
    const isKnown = !restored && views === before.views && changes.length <= MAX_LOG_CHANGES;
    if (!isKnown) this.reader.onUnknownChanges();
    else if (changes.length > 0) this.reader.onChanges(changes);
    return isKnown;
  }

  private async tryOpen(): Promise<void> {
    try {
      const session = (this.session ??= await this.connect());
      const { snapshot, views } = (await this.run(session, null, [], NO_KEYS)).row;
      this.reader.onUnknownChanges();
      if (this.session !== session) return;
      if (views === null) this.retryAt = performance.now() + RECONNECT_MS;
      else this.checked = { snapshot, views };
    } catch {
      // Requests that read Postgres themselves report the outage.
      this.lose();
    }
  }

  private async connect(): Promise<DatabaseSession> {
    let session: DatabaseSession | null = null;
    // The connection can also end before it is open, for example while Postgres is away.
    session = await this.database.session(() => {
      if (session !== null && this.session === session) this.lose();
    });
    try {
      await within(ANSWER_TIMEOUT_MS, session.pipeline(SET_UP));
      return session;
    } catch (error) {
      void session.close().catch(() => undefined);
      throw error;
    }
  }

  private async run(
    session: DatabaseSession,
    before: Checked | null,
    callers: readonly Identity[],
    keys: ResourceKeys,
  ): Promise<CheckResult> {
    const { count } = this.database;
    count.statements += 1;
    count.roundTrips += 1;
    cacheMetrics.checks.inc();
    const check = selectBarrier(before, `[${callers.map(toCallerJson).join(',')}]`);
    const statement = countKeys(keys) === 0 ? check : withResources(check, this.reader.select(keys));
    const rows = await within(ANSWER_TIMEOUT_MS, session.run<CheckRow>(statement));
    const [row] = rows;
    if (!row || row.snapshot === null) throw new Error('Postgres has answered a check without its row');
    return { row, resources: rows.filter(isResource) };
  }

  /** Closes the connection. Nothing passes until a new one has been opened. */
  private lose(): void {
    const { session } = this;
    this.session = null;
    this.checked = null;
    this.retryAt = performance.now() + RECONNECT_MS;
    this.reader.onUnknownChanges();
    // Only `close` waits for this, because a connection that does not answer cannot be closed properly.
    if (session) this.closing = session.close().catch(() => undefined);
  }
}

/** Rejects if the work takes too long. */
const within = async <T>(limitMs: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Postgres has not answered for ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

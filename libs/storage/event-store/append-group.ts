import { sql, type Sql } from '#platform/kernel';
import {
  getSqlState,
  isKeyedQuery,
  mergeKeyedQueries,
  parseNamedStreams,
  pickRows,
  type DatabaseRow,
  type FailedGroupError,
  type KeyedQuery,
} from '#platform/postgres';
import type { StreamWrite } from './writes.js';

/** An append that may share a transaction with others. */
export type GroupedAppend = {
  readonly writes: readonly StreamWrite[];
  /** People who must not be forgotten meanwhile, and those of them who are callers. */
  readonly people: readonly string[];
  readonly writers: readonly string[];
  /** One for each write with events, in the same order. */
  readonly appends: readonly Sql[];
  readonly projections: readonly Sql[];
  readonly reads: readonly (Sql | KeyedQuery)[];
};

/** The transaction of a group. */
export type GroupTransaction<A extends GroupedAppend> = {
  readonly statements: readonly Sql[];
  /** The append that a statement belongs to, by its index; null for statements of the whole group. */
  readonly owners: readonly (A | null)[];
  /** Indexes of the statements that fail if a stream has another version. */
  readonly versionChecks: ReadonlySet<number>;
  /** Returns the rows of an append's reads. */
  readonly pick: (append: A, results: readonly DatabaseRow[][]) => DatabaseRow[][];
};

/** Larger groups save little more, and one failure would repeat more work. */
export const MAX_GROUP_APPENDS = 32;
const MAX_GROUP_STATEMENTS = 300;

const hasEvents = ({ events }: StreamWrite): boolean => events.length > 0;

const listOrganizations = ({ writes }: GroupedAppend): readonly string[] =>
  writes.filter(hasEvents).map(({ organization }) => organization ?? '');

const countStatements = ({ appends, projections, reads }: GroupedAppend): number =>
  appends.length + projections.length + reads.length;

/** The streams of a group. */
class GroupStreams {
  readonly organizations = new Set<string>();
  private readonly written = new Set<string>();
  private readonly preconditions = new Map<string, StreamWrite['expected']>();

  add(append: GroupedAppend): void {
    for (const write of append.writes) {
      if (hasEvents(write)) this.written.add(write.stream);
      else this.preconditions.set(write.stream, write.expected);
    }
    for (const organization of listOrganizations(append)) this.organizations.add(organization);
  }

  /** Whether the append writes a stream that the group depends on, or the other way round. */
  conflictsWith({ writes }: GroupedAppend): boolean {
    return writes.some((write) => {
      if (this.written.has(write.stream)) return true;
      const expected = this.preconditions.get(write.stream);
      return expected !== undefined && (hasEvents(write) || expected !== write.expected);
    });
  }
}

/**
 * Returns the next group of the queue, and the appends that stay in it. Two appends of one stream never share a group,
 * and neither do a write and a precondition of one stream. `running` are the appends of groups that are not committed
 * yet: a further group must not wait for the organizations of these.
 */
export const takeGroup = <A extends GroupedAppend>(
  queue: readonly A[],
  running: readonly A[],
): { readonly group: A[]; readonly rest: A[] } => {
  const others = new GroupStreams();
  for (const append of running) others.add(append);
  const streams = new GroupStreams();
  const group: A[] = [];
  const rest: A[] = [];
  let statements = 0;
  for (const append of queue) {
    const isFull =
      group.length >= MAX_GROUP_APPENDS ||
      (group.length > 0 && statements + countStatements(append) > MAX_GROUP_STATEMENTS);
    const mustWait =
      isFull ||
      streams.conflictsWith(append) ||
      others.conflictsWith(append) ||
      listOrganizations(append).some((organization) => others.organizations.has(organization));
    (mustWait ? rest : group).push(append);
    if (mustWait) continue;
    streams.add(append);
    statements += countStatements(append);
  }
  return { group, rest };
};

const buildBeginStatement = (group: readonly GroupedAppend[]): Sql => {
  const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];
  const writes = group.flatMap((append) => append.writes);
  const preconditions = new Map(
    writes.filter((write) => !hasEvents(write)).map((write) => [write.stream, write.expected]),
  );
  const people = distinct(group.flatMap((append) => append.people));
  const writers = distinct(group.flatMap((append) => append.writers));
  // A group of one waits for the rows of other transactions as any single append does.
  const organizations = group.length > 1 ? distinct(group.flatMap(listOrganizations)) : [];
  const written = distinct(writes.filter(hasEvents).map(({ stream }) => stream));
  return sql`select event_store.begin_group(${people}::text[], ${writers}::text[], ${organizations}::text[],
    ${written}::text[], ${[...preconditions.keys()]}::text[], ${[...preconditions.values()]}::bigint[])`;
};

/**
 * Returns the statements of a group: first all locks and preconditions, then the appends one after another with their
 * views, then the queries of all appends that can be merged.
 */
export const buildGroupTransaction = <A extends GroupedAppend>(group: readonly A[]): GroupTransaction<A> => {
  const statements: Sql[] = [buildBeginStatement(group)];
  const owners: (A | null)[] = [null];
  const versionChecks = new Set([0]);
  const indexes = new Map<A, number[]>(group.map((append) => [append, []]));
  const add = (statement: Sql, owner: A | null): number => {
    owners.push(owner);
    return statements.push(statement) - 1;
  };
  for (const append of group) {
    for (const statement of append.appends) versionChecks.add(add(statement, append));
    for (const statement of append.projections) add(statement, append);
    indexes.set(
      append,
      append.reads.map((read) => (isKeyedQuery(read) ? -1 : add(read, append))),
    );
  }
  const keyed = group.flatMap(({ reads }) => reads.filter((read) => isKeyedQuery(read)));
  const merged = new Map<KeyedQuery, number>();
  for (const { statement, queries } of mergeKeyedQueries(keyed)) {
    const index = add(statement, group.length === 1 ? (group[0] as A) : null);
    for (const query of queries) merged.set(query, index);
  }
  const pick = (append: A, results: readonly DatabaseRow[][]): DatabaseRow[][] =>
    append.reads.map((read, n) =>
      isKeyedQuery(read)
        ? pickRows(results[merged.get(read) as number] ?? [], read)
        : (results[indexes.get(append)?.[n] as number] ?? []),
    );
  return { statements, owners, versionChecks, pick };
};

/** Returns whether the append depends on an older version of a stream that the group has written. */
export const isOutdated = ({ writes }: GroupedAppend, versions: ReadonlyMap<string, number>): boolean =>
  writes.some(({ stream, expected }) => expected !== 'any' && expected < (versions.get(stream) ?? 0));

/** Returns the versions of the streams after the group, as far as they are known. */
export const listNewVersions = (group: readonly GroupedAppend[]): ReadonlyMap<string, number> =>
  new Map(
    group.flatMap(({ writes }) =>
      writes.flatMap(({ stream, expected, events }) =>
        expected === 'any' ? [] : [[stream, expected + events.length] as const],
      ),
    ),
  );

/** Errors that other transactions or the server cause, so that no append of the group is to blame. */
const NOBODYS_FAULT = /^(?:40|53|55|57|58|XX)/;

/** The next step for each append of a failed group. */
type FailureJudgment<A> = {
  /** They fail with the error. */
  readonly refused: readonly A[];
  /** They are sent in transactions of their own. */
  readonly alone: readonly A[];
  /** They may share a transaction again. */
  readonly repeated: readonly A[];
};

/** Decides which appends fail after a failure of their group. */
export const judgeFailure = <A extends GroupedAppend>(
  group: readonly A[],
  { owners, versionChecks }: GroupTransaction<A>,
  { cause, statement }: Pick<FailedGroupError, 'cause' | 'statement'>,
): FailureJudgment<A> => {
  const state = getSqlState(cause);
  // If Postgres refused no statement, the transaction may have been committed, so nothing is sent again.
  if (statement === null) return { refused: group, alone: [], repeated: [] };
  // A stream of the append is locked. Alone, the append waits for it.
  if (group.length === 1) {
    return state === 'CA423'
      ? { refused: [], alone: group, repeated: [] }
      : { refused: group, alone: [], repeated: [] };
  }
  const streams = parseNamedStreams(cause) ?? [];
  const owner = owners[statement];
  const blamed = owner ? [owner] : group.filter(({ writes }) => writes.some(({ stream }) => streams.includes(stream)));
  if (blamed.length === 0 || NOBODYS_FAULT.test(state)) return { refused: [], alone: group, repeated: [] };
  const repeated = group.filter((append) => !blamed.includes(append));
  // Any other failure may be the effect of another append in the group, such as a name that both use. That other append
  // may fail later, so only an attempt alone shows whether this one fails.
  const isCertain = state === 'CA409' && versionChecks.has(statement);
  return isCertain ? { refused: blamed, alone: [], repeated } : { refused: [], alone: blamed, repeated };
};

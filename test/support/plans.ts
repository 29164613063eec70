import { UNRESTRICTED, type Actor } from '#api/access';
import type { Database, DatabaseRow, DatabaseSession } from '#platform/postgres';
import { compileStatement, Refusal, sql, type Sql } from '#platform/kernel';
import { waitUntil } from './product.js';
import { makeOrganization } from './seeds.js';
import { startTestServer, type TestServer } from './server.js';

/** The nodes of a query plan. Tests check the plan of a statement, never its duration. */
export type Plan = readonly Node[];

type Node = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
};

const nodesOf = (node: Node): Plan => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const nodesIn = (explained: DatabaseRow | undefined): Plan => {
  const [top] = (explained?.['QUERY PLAN'] ?? []) as readonly { readonly Plan: Node }[];
  if (!top) throw new Error('Postgres returned no plan');
  return nodesOf(top.Plan);
};

/** Executes the statement with these values, and returns its plan with the counts of rows. */
export const planFor = async (database: Database, statement: Sql): Promise<Plan> =>
  nodesIn((await database.slowRows({ id: 'plans' }, sql`explain (analyze, timing off, format json) ${statement}`))[0]);

/** Returns the generic plan, which does not depend on the values. */
export const planForAny = async (database: Database, statement: Sql): Promise<Plan> => {
  const { text, values } = compileStatement(statement);
  const literals = values.map((value) => `'${String(value).replaceAll("'", "''")}'`).join(', ');
  const session = await database.session();
  await session.run(sql`set plan_cache_mode = force_generic_plan`);
  await session.run(sql.raw(`prepare list as ${text}`));
  const [row] = await session.run(sql.raw(`explain (format json) execute list (${literals})`));
  await session.close();
  return nodesIn(row);
};

/** Returns the result of a query, and the statement that it sent. */
export const captureStatement = async <T>(
  database: Database,
  run: (database: Database) => Promise<T>,
): Promise<{ readonly result: T; readonly statement: Sql }> => {
  const { watched, sent } = watch(database);
  const result = await run(watched);
  return { result: result, statement: sent() };
};

/** Returns the statement of a query that is refused. */
export const refusedStatement = async (
  database: Database,
  run: (database: Database) => Promise<unknown>,
): Promise<Sql> => {
  const { watched, sent } = watch(database);
  const refusal: unknown = await run(watched).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(refusal instanceof Refusal)) throw new Error('the query was not refused', { cause: refusal });
  return sent();
};

const watch = (database: Database): { readonly watched: Database; readonly sent: () => Sql } => {
  let last: Sql | null = null;
  const send = (statement: Sql): Promise<DatabaseRow[]> => {
    last = statement;
    return database.slowRows({ id: 'plans' }, statement);
  };
  const watched = { rows: send, slowRows: (_: unknown, statement: Sql): Promise<DatabaseRow[]> => send(statement) };
  const sent = (): Sql => {
    if (!last) throw new Error('no statement was sent');
    return last;
  };
  return { watched: watched as unknown as Database, sent };
};

/** Returns the tables that are read with a sequential scan. */
export const readWhole = (plan: Plan, tables: readonly string[]): readonly string[] =>
  plan
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .flatMap((node) => node['Relation Name'] ?? [])
    .filter((table) => tables.includes(table));

export const indexesOf = (plan: Plan): ReadonlySet<string> => new Set(plan.flatMap((node) => node['Index Name'] ?? []));

/** Returns the number of rows that were read in these tables, including rows that did not match. */
export const rowsRead = (plan: Plan, tables: readonly string[]): number =>
  plan
    .filter((node) => tables.includes(node['Relation Name'] ?? '') && node['Node Type'].includes('Scan'))
    .reduce((sum, node) => {
      const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
      return sum + Math.round(each * node['Actual Loops']);
    }, 0);

/** Returns how often the plan accesses these tables. Each access costs more than the next row of an index. */
export const countScans = (plan: Plan, tables: readonly string[]): number =>
  plan
    .filter((node) => tables.includes(node['Relation Name'] ?? ''))
    .reduce((sum, node) => sum + node['Actual Loops'], 0);

type PlannedCaller = Pick<Actor, 'siteAdmin' | 'teams' | 'rolesByOrganization'>;

/** Returns a caller without a token. */
export const anybody = (caller: PlannedCaller): Actor => {
  const request = { id: null, address: null, userAgent: null };
  const current = {
    token: null,
    subjects: '{}',
    epoch: 0,
    snapshot: null,
    closedTo: new Map(),
    restriction: UNRESTRICTED,
  };
  return {
    kind: 'user',
    id: 'user-x',
    name: 'x',
    credential: 'token',
    assurance: null,
    provedAt: null,
    ...current,
    expiredAt: null,
    request,
    ...caller,
  };
};

export type PlanSeed = {
  readonly server: TestServer;
  /** The administrator sees everything. The member sees what `team-few` has access to. */
  readonly actors: Readonly<Record<'administrator' | 'member', Actor>>;
};

/**
 * Vacuums tables again until all their pages are visible. A snapshot in the same database, such as one of autovacuum,
 * keeps new rows invisible, and the planner then avoids scans that read an index alone.
 */
const makeVisible = async (session: DatabaseSession): Promise<boolean> => {
  const tables = await session.run(sql`
    select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace = 'views'::regnamespace and relallvisible < relpages`);
  for (const { name } of tables) await session.run(sql.raw(`vacuum analyze ${String(name)}`));
  return tables.length === 0;
};

/** Vacuums the views until every page is visible to all snapshots, so that plans do not depend on other connections. */
export const vacuumUntilVisible = (session: DatabaseSession): Promise<unknown> =>
  waitUntil(() => makeVisible(session), 'all pages of the tables are visible');

/** Starts a server with an organization. `fill` returns statements that insert rows directly into the views. */
export const startCrowd = async (organization: string, fill: (id: string) => readonly Sql[]): Promise<PlanSeed> => {
  const server = await startTestServer();
  const { id } = await makeOrganization(server, organization);
  const session = await server.database.session();
  for (const statement of fill(id)) await session.run(statement);
  await vacuumUntilVisible(session);
  await session.close();
  const rolesByOrganization = new Map([[id, new Set(['member'] as const)]]);
  return {
    server,
    actors: {
      administrator: anybody({ siteAdmin: true, teams: [], rolesByOrganization: new Map() }),
      member: anybody({ siteAdmin: false, teams: ['team-few'], rolesByOrganization }),
    },
  };
};

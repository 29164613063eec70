import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  selectPermittedScopes,
  toPermittedPage,
  type Actor,
} from '#api/access';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { AgentStatus, ExecutorFacts, Ping } from './agent.js';

export type AgentRow = Ping & {
  readonly id: string;
  /** Null for an agent of the site. */
  readonly organization: string | null;
  readonly pool: string;
  readonly name: string | null;
  readonly ipAddress: string | null;
  readonly executor: ExecutorFacts | null;
  readonly createdAt: Timestamp;
};

const COLUMNS =
  sql.raw(`a.id, a.organization, a.pool, a.name, a.ip_address as "ipAddress", a.executor, a.created_at as "createdAt",
  g.status as reported, g.at as "lastPingAt"`);
const FROM = sql.raw('from agents a left join agents.pings g on g.agent = a.id');

export const selectAgentById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where a.id = ${id}`;

/** Rejects agent tokens of other pools. */
const requireOwnPool = (actor: Actor, scope: { readonly organization: string | null; readonly pool: string }): void => {
  requirePermission(actor, 'execute-run', scope);
  if (scope.pool !== actor.id) throw notFound();
};

const findAgentRow = async (database: Database, actor: Actor, id: string): Promise<AgentRow> => {
  const row = await database.row<AgentRow>(sql`${selectAgentById(id)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};

/** Returns the agent. Throws `not-found` if the caller may not read its pool. */
export const findAgent = async (database: Database, actor: Actor, id: string): Promise<AgentRow> => {
  const row = await findAgentRow(database, actor, id);
  requirePermission(actor, 'read-agent-pools', row);
  return row;
};

type AgentForCommand = AgentRow & { readonly snapshot: StreamSnapshot };

export const loadAgentForCommand = async (database: Database, actor: Actor, id: string): Promise<AgentForCommand> => {
  const row = await database.row<AgentForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot
      ${FROM} join event_store.streams s on s.stream = a.id where a.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-agent-pools', row);
};

type PoolForAgent = {
  readonly pool: string;
  readonly organization: string | null;
  /**
   * Versions of the pool and of its organization. A deletion of the organization appends nothing to the pool's stream.
   */
  readonly preconditions: readonly StreamVersion[];
};

/** Returns the pool that an agent registers in with the pool's token. */
export const loadPoolForAgent = async (database: Database, actor: Actor, id: string): Promise<PoolForAgent> => {
  const row = await database.row<PoolForAgent>(sql`
    select ap.id as pool, ap.organization, ${selectStreamVersions(sql.raw('array[ap.id, ap.organization]'))} as preconditions
      from agent_pools ap where ap.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireOwnPool(actor, row);
  return row;
};

/**
 * Stores the status that an agent reports. It is not an event, because it arrives every few seconds and older values
 * have no use.
 */
export const upsertPing = (id: string, status: AgentStatus, at: Timestamp): Sql => sql`
  insert into agents.pings (agent, pool, organization, status, at)
  select id, pool, organization, ${status}, ${at}::timestamptz from agents where id = ${id}
  on conflict (agent) do update set status = excluded.status, at = excluded.at
  returning agent`;

/** Records a ping and returns the agent. Rejects tokens of other pools. */
export const recordPing = async (
  database: Database,
  actor: Actor,
  id: string,
  reported: AgentStatus,
  at: Timestamp,
): Promise<AgentRow> => {
  const row = await findAgentRow(database, actor, id);
  requireOwnPool(actor, row);
  const [written] = await database.rows(upsertPing(id, reported, at));
  if (!written) throw notFound();
  return { ...row, reported, lastPingAt: at };
};

/** Returns one page of a pool's agents and the count of all, from one statement. */
export const listAgents = async (
  database: Database,
  actor: Actor,
  pool: string,
  page: PageRequest,
  lastPingSince: Timestamp | undefined,
): Promise<ListPage<AgentRow>> => {
  const where = sql.and([
    sql`a.pool = ap.id`,
    ...(lastPingSince === undefined ? [] : [sql`g.at >= ${lastPingSince}::timestamptz`]),
  ]);
  const pools = sql`select id, organization from agent_pools where id = ${pool} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<AgentRow, { owner: string | null; total: number }>>(
    actor,
    sql`
    select ap.organization as owner, ap.total, page.*
      from (select ap.*, (select count(*) ${FROM} where ${where}) as total
              from ${selectPermittedScopes(actor, 'read-agent-pools', pools)} ap offset 0) ap
      left join lateral (select ${COLUMNS} ${FROM} where ${where}
                          order by a.created_at desc, a.id ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  return toPermittedPage(actor, 'read-agent-pools', rows);
};

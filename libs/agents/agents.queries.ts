import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, permittedPlaces, type Actor } from '#access';
import { limitOf, listedIn, type Listed, type Page } from '#json-api';
import type { AgentStatus, Ping } from './agent.js';

export type AgentRow = Ping & {
  readonly id: string;
  readonly organization: string;
  readonly pool: string;
  readonly name: string | null;
  readonly ipAddress: string | null;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql.raw(`a.id, a.organization, a.pool, a.name, a.ip_address as "ipAddress", a.created_at as "createdAt",
  g.status as said, g.at as "lastPingAt"`);
const FROM = sql.raw('from agents a left join agents.pings g on g.agent = a.id');

export const agentById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where a.id = ${id}`;

/** An agent's token speaks for its pool: it may do there what agents do, and knows of no other pool. */
const demandOwn = (actor: Actor, place: { readonly organization: string; readonly pool: string }): void => {
  demand(actor, 'execute-run', place);
  if (place.pool !== actor.id) throw notFound();
};

const agentIn = async (database: Database, actor: Actor, id: string): Promise<AgentRow> => {
  const row = await database.row<AgentRow>(sql`${agentById(id)} and ${fresh(actor)}`);
  if (!row) throw notFound();
  return row;
};

/** The agent, where the caller may read its pool. */
export const agentFor = async (database: Database, actor: Actor, id: string): Promise<AgentRow> => {
  const row = await agentIn(database, actor, id);
  demand(actor, 'read-agent-pools', row);
  return row;
};

type AgentForCommand = AgentRow & { readonly snapshot: Snapshot };

export const agentForCommand = async (database: Database, actor: Actor, id: string): Promise<AgentForCommand> => {
  const row = await database.row<AgentForCommand>(sql`
    select ${COLUMNS}, ${snapshotOf('s')} as snapshot
      ${FROM} join event_store.streams s on s.stream = a.id where a.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-agent-pools', row);
  return row;
};

type PoolForAgent = {
  readonly pool: string;
  readonly organization: string;
  /** What must be there still when the agent is: the pool, and the organization, whose end the pool's stream does not tell. */
  readonly held: readonly Held[];
};

/** The pool that an agent wants to join with the pool's token. */
export const poolForAgent = async (database: Database, actor: Actor, id: string): Promise<PoolForAgent> => {
  const row = await database.row<PoolForAgent>(sql`
    select ap.id as pool, ap.organization, ${heldStreams(sql.raw('array[ap.id, ap.organization]'))} as held
      from agent_pools ap where ap.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demandOwn(actor, row);
  return row;
};

/** What an agent says of itself: no event, for it comes every few seconds and nobody asks for the one before. */
export const ping = (id: string, said: AgentStatus, at: Timestamp): Sql => sql`
  insert into agents.pings (agent, pool, organization, status, at)
  select id, pool, organization, ${said}, ${at}::timestamptz from agents where id = ${id}
  on conflict (agent) do update set status = excluded.status, at = excluded.at
  returning agent`;

/** The agent as it says now that it is, where the caller may speak for it. */
export const recordPing = async (
  database: Database,
  actor: Actor,
  id: string,
  said: AgentStatus,
  at: Timestamp,
): Promise<AgentRow> => {
  const row = await agentIn(database, actor, id);
  demandOwn(actor, row);
  const [written] = await database.rows(ping(id, said, at));
  if (!written) throw notFound();
  return { ...row, said, lastPingAt: at };
};

/** One page of a pool's agents and the count of all, in one statement. */
export const listAgents = async (
  database: Database,
  actor: Actor,
  pool: string,
  page: Page,
  lastPingSince: Timestamp | undefined,
): Promise<Listed<AgentRow>> => {
  const where = sql.and([
    sql`a.pool = ap.id`,
    ...(lastPingSince === undefined ? [] : [sql`g.at >= ${lastPingSince}::timestamptz`]),
  ]);
  const pools = sql`select id, organization from agent_pools where id = ${pool} and ${fresh(actor)}`;
  const found = await database.slowRows<AgentRow & { owner: string; total: number }>(
    actor,
    sql`
    select ap.organization as owner, (select count(*) ${FROM} where ${where}) as total, page.*
      from ${permittedPlaces(actor, 'read-agent-pools', pools)} ap
      left join lateral (select ${COLUMNS} ${FROM} where ${where}
                          order by a.created_at desc, a.id ${limitOf(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-agent-pools', { organization: first.owner });
  return listedIn(found);
};

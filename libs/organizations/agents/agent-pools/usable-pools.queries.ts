import { sql, unprocessable, type Sql } from '#platform/kernel';
import { expectVersion, type StreamWrite } from '#storage/event-store';

/**
 * Columns or parameters with the ids of a workspace and its project. Without both, the user is the whole organization.
 */
type PoolUser = { readonly workspace?: Sql; readonly project?: Sql };

/** The pool of a command, or null. `organization` is a column. */
type PoolChoice = PoolUser & { readonly pool: string | null; readonly organization: Sql };

const NULL = sql.raw('null');

/**
 * Returns a condition on the row `ap` of agent_pools: the user may use the pool. The pool must be for the whole
 * organization, the workspace or its project, and must not exclude the workspace.
 */
export const isPoolUsableBy = ({ workspace = NULL, project = NULL }: PoolUser): Sql => sql`(
  (ap.organization_scoped or exists (
     select 1 from agent_pool_scopes allowed
      where allowed.pool = ap.id
        and (allowed.scope = 'allowedWorkspaces' and allowed.target = ${workspace}
             or allowed.scope = 'allowedProjects' and allowed.target = ${project})))
  and not exists (
     select 1 from agent_pool_scopes excluded
      where excluded.pool = ap.id and excluded.scope = 'excludedWorkspaces' and excluded.target = ${workspace}))`;

const HAS_REMOTE_POOL = sql.raw(
  'exists (select 1 from agent_pools own where own.organization = o.id and own.remote_runs_enabled)',
);
const ALLOWS_SITE_POOLS = sql.raw(`coalesce((o.settings ->> 'siteExecutorsEnabled')::boolean, true)`);

/**
 * The condition on the row `o` of organizations that pools of the site execute its runs in `remote` mode: the
 * organization has no pool for them, whatever the scope of that pool, and has not opted out.
 */
export const USES_SITE_POOLS = sql`(${ALLOWS_SITE_POOLS} and not ${HAS_REMOTE_POOL})`;

/**
 * The condition on the row `o` of organizations that some pool executes its runs in `remote` mode. It depends on
 * configuration only: the agents of the pool may not be running.
 */
export const EXECUTES_REMOTE_RUNS = sql`(${HAS_REMOTE_POOL}
  or ${ALLOWS_SITE_POOLS} and exists (select 1 from agent_pools site where site.organization is null))`;

/**
 * Returns an expression for the version of the pool's stream, for `expectPoolVersion`; null if the organization has no
 * such pool, or if the user may not use it.
 */
export const selectUsablePoolVersion = ({ pool, organization, ...user }: PoolChoice): Sql =>
  pool === null
    ? sql.raw('null::integer')
    : sql`(select s.version from agent_pools ap join event_store.streams s on s.stream = ap.id
            where ap.id = ${pool} and ap.organization = ${organization} and ${isPoolUsableBy(user)})`;

/** An executor whose last ping is so much older than the newest one of its pool counts as absent. */
const ABSENT_AFTER_MINUTES = 3;

/** Returns an expression for the number of phases that the executors of a pool execute at once. `pool` is a column with its id. */
export const selectPoolCapacity = (pool: string): Sql => sql`(
  select coalesce(sum(coalesce((g.executor ->> 'capacity')::integer, 1)), 0)
    from agents.pings p join agents g on g.id = p.agent
   where p.pool = ${sql.raw(pool)} and p.status in ('idle', 'busy')
     and p.at > (select max(newest.at) from agents.pings newest where newest.pool = ${sql.raw(pool)})
                - make_interval(mins => ${ABSENT_AFTER_MINUTES}))`;

/**
 * Returns a condition: the executor exists and accepts the phase, `plan` or `apply`. One that names no phases accepts all. `executor` is
 * a column with its id.
 */
export const acceptsPhase = (executor: string, phase: Sql): Sql => sql`exists (
  select from agents g
   where g.id = ${sql.raw(executor)}
     and (coalesce(jsonb_typeof(g.executor -> 'phases'), 'null') <> 'array' or g.executor -> 'phases' ? ${phase}))`;

/**
 * Expects the pool's version in an append that refers to the pool. Refuses an unknown pool. Call it after the check of
 * the settings: whether a pool may be named at all comes first.
 */
export const expectPoolVersion = (
  pool: string | null,
  version: number | null,
  { pointer, locationText = 'here' }: { readonly pointer: string; readonly locationText?: string },
): readonly StreamWrite[] => {
  if (pool === null) return [];
  if (version === null) throw unprocessable(`Agent pool does not exist, or is not allowed ${locationText}`, pointer);
  return [expectVersion(pool, version)];
};

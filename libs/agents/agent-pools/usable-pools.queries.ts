import { sql, unprocessable, type Sql } from '#kernel';
import { expectVersion, type StreamWrite } from '#event-store';

/** Columns, or parameters, with the ids of who wants to use a pool; without any it is the whole organization. */
type PoolUser = { readonly workspace?: Sql; readonly project?: Sql };

/** A pool that a command names, or none. `organization` is a column. */
type PoolChoice = PoolUser & { readonly pool: string | null; readonly organization: Sql };

const NULL = sql.raw('null');

/**
 * Whether the pool in the row `ap` of agent_pools lets that workspace use it: it is for the whole organization, or for
 * the workspace or its project; and does not leave the workspace out.
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

/**
 * The version of the pool's stream, to hold while something is appended that names the pool; null where there is no such
 * pool in that organization, or none that may be used there.
 */
export const selectUsablePoolVersion = ({ pool, organization, ...user }: PoolChoice): Sql =>
  pool === null
    ? NULL
    : sql`(select s.version from agent_pools ap join event_store.streams s on s.stream = ap.id
            where ap.id = ${pool} and ap.organization = ${organization} and ${isPoolUsableBy(user)})`;

/**
 * Holds the pool at the version it was found at. Asked only once the settings have been found to agree: whether a pool
 * may be named at all comes first.
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

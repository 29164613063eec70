import { sql, type Sql } from '#kernel';

/** Columns, or parameters, with the ids of a pool and of the workspace that wants to use it. */
export type PoolChoice = {
  readonly pool: Sql;
  readonly organization: Sql;
  readonly workspace: Sql;
  readonly project: Sql;
};

/**
 * Whether the pool in the row `ap` of agent_pools lets that workspace use it: it is for the whole organization, or for
 * the workspace or its project; and does not leave the workspace out.
 */
export const letsUse = ({ workspace, project }: Pick<PoolChoice, 'workspace' | 'project'>): Sql => sql`(
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
 * pool in that organization, or none that the workspace may use.
 */
export const usablePoolVersion = ({ pool, organization, ...of }: PoolChoice): Sql => sql`(
  select s.version from agent_pools ap join event_store.streams s on s.stream = ap.id
   where ap.id = ${pool} and ap.organization = ${organization} and ${letsUse(of)})`;

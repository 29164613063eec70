import { sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { EXECUTION_MODE, IDLE_DESTROY_AT } from '#workspaces/workspaces';

const FIXED_DESTROY_AT = sql.raw(`(w.settings ->> 'autoDestroyAt')::timestamptz`);

/** A canceled or failed automatic destroy is not repeated, because the state that it was for has not changed. */
const IS_TRIED = sql.raw(`exists (select 1 from runs tried
  where tried.workspace = w.id and tried.created_at >= w.state_changed_at and tried.source = 'tfe-infrastructure-lifecycle')`);

/**
 * When the resources of the workspace `w` of the project `p` and the organization `o` are destroyed: the later of its time and its
 * duration. Null if its settings do not allow it, and if it has no resources.
 */
export const DESTROY_AT = sql`case
  when w.resource_count > 0 and (w.settings ->> 'allowDestroyPlan')::boolean and ${EXECUTION_MODE} <> 'local'
  then greatest(${FIXED_DESTROY_AT}, case when not ${IS_TRIED} then ${IDLE_DESTROY_AT} end) end`;

/** A workspace with resources, and when they are destroyed. */
export type WorkspaceToDestroy = {
  readonly id: string;
  readonly organization: string;
  readonly at: Timestamp;
  /** Whether the workspace sets a time, which the destroy run clears. */
  readonly hasTime: boolean;
};

/** Lists workspaces whose resources are destroyed after `from` and until `to`, and that can have runs. */
export const listWorkspacesToDestroy = (
  database: Database,
  from: Timestamp,
  to: Timestamp,
): Promise<readonly WorkspaceToDestroy[]> =>
  database.rows<WorkspaceToDestroy>(sql`
    with candidates as (
      select w.id from workspaces w where w.has_destroy_time and w.resource_count > 0
       union
      select w.id from projects p join workspaces w on w.project = p.id
       where p.settings ->> 'autoDestroyActivityDuration' is not null and w.resource_count > 0),
    planned as (
      select w.id, w.organization, ${FIXED_DESTROY_AT} is not null as "hasTime", ${DESTROY_AT} as at
        from candidates c join workspaces w on w.id = c.id join projects p on p.id = w.project
        join organizations o on o.id = w.organization)
    select id, organization, at, "hasTime" from planned
     where at > ${from} and at <= ${to}
       and exists (select 1 from configuration_versions c
                    where c.workspace = planned.id and c.status = 'uploaded' and c.current_since is not null)
     order by at, id`);

/** When the resources of a workspace are destroyed, with the versions of the streams that decide it. */
type PlannedDestroy = {
  readonly at: Timestamp | null;
  readonly workspaceVersion: number;
  readonly project: string;
  readonly projectVersion: number;
};

export const findPlannedDestroy = (database: Database, workspace: string): Promise<PlannedDestroy | undefined> =>
  database.row<PlannedDestroy>(sql`
    select ${DESTROY_AT} as at, sw.version as "workspaceVersion", w.project, sp.version as "projectVersion"
      from workspaces w join projects p on p.id = w.project join organizations o on o.id = w.organization
      join event_store.streams sw on sw.stream = w.id join event_store.streams sp on sp.stream = w.project
     where w.id = ${workspace}`);

import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** The same rule as `inheritsAutoDestroy`, for the row `w` of workspaces. */
const INHERITS = sql.raw(`coalesce((w.settings ->> 'inheritsProjectAutoDestroy')::boolean,
  w.settings ->> 'autoDestroyAt' is null and w.settings ->> 'autoDestroyActivityDuration' is null)`);

/** Whether the row `w` of workspaces inherits a duration from the project. */
export const inheritsDuration = (project: Sql): Sql => sql`(${INHERITS} and exists (
  select 1 from projects t where t.id = ${project} and t.settings ->> 'autoDestroyActivityDuration' is not null))`;

/**
 * When the resources of the workspace `w` of the project `p` are destroyed, because its state has not changed for the duration
 * of itself or of the project. Null without a duration, and without resources.
 */
export const IDLE_DESTROY_AT = sql`case when w.resource_count > 0 then w.state_changed_at +
  (case when ${INHERITS} then p.settings ->> 'autoDestroyActivityDuration'
        else w.settings ->> 'autoDestroyActivityDuration' end)::interval end`;

/** A workspace with resources, and when they are destroyed. */
export type WorkspaceToDestroy = {
  readonly id: string;
  readonly organization: string;
  readonly at: Timestamp;
  /** Whether a setting of the workspace names this time, which the destroy run clears. */
  readonly isFixed: boolean;
};

/**
 * Lists workspaces whose resources are destroyed after `from` and until `to`, and whose settings allow it.
 */
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
      select w.id, w.organization, (w.settings ->> 'autoDestroyAt')::timestamptz as fixed, ${IDLE_DESTROY_AT} as idle
        from candidates c join workspaces w on w.id = c.id join projects p on p.id = w.project
       where w.resource_count > 0 and (w.settings ->> 'allowDestroyPlan')::boolean)
    select id, organization, coalesce(fixed, idle) as at, fixed is not null as "isFixed"
      from planned where coalesce(fixed, idle) > ${from} and coalesce(fixed, idle) <= ${to}
     order by at, id`);

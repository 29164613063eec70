import { sql, type Sql } from '#platform/kernel';

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

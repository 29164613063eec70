import { sql } from '#platform/kernel';

/** Runs that trigger each other, from one to the next. */
const MAX_TRIGGERS = 20;

/**
 * The ids of those who have created the run `r`, its configuration, or a run that has triggered it, as a column. None unless the run
 * waits for an override. Null if the chain of triggers is too long, or one of its runs was deleted: anybody can be at its beginning.
 */
export const RUN_AUTHORS = sql.raw(`case when r.status <> 'post_plan_awaiting_decision' then '{}'::text[] else (
  with recursive causes as (
    select r.created_by, r.configuration_version, r.options #>> '{triggeredBy,run}' as cause, 1 as depth
     union all
    select o.created_by, o.configuration_version, o.options #>> '{triggeredBy,run}', c.depth + 1
      from causes c join runs o on o.id = c.cause where c.depth < ${MAX_TRIGGERS})
  select case when exists (select 1 from causes c where c.cause is null) then array(
    select c.created_by ->> 'id' from causes c where c.created_by ->> 'id' is not null
     union select cv.created_by ->> 'id' from causes c join configuration_versions cv on cv.id = c.configuration_version
            where cv.created_by ->> 'id' is not null) end) end`);

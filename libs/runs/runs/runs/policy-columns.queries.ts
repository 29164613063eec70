import { sql } from '#platform/kernel';
import { HAS_ENFORCED_POLICIES, SELECT_ENFORCED_POLICIES } from '#runs/policies';
import { SELECT_SITE_OPA_RELEASES } from '#workspaces/workspaces';
import { ASSESSMENT } from './run-event.js';

/** Health assessments are never applied, so that no policy stops them. */
const IS_CHECKED = sql.raw(`r.status in ('plan_queued', 'planning') and r.source <> '${ASSESSMENT}'`);

/** The policies that the plan of the run `r` must pass, as columns for `createPolicyChoice`. */
export const POLICY_COLUMNS = sql`
  case when ${IS_CHECKED} then ${SELECT_ENFORCED_POLICIES} else '[]' end as "enforcedPolicies",
  case when ${IS_CHECKED} and ${HAS_ENFORCED_POLICIES} then ${SELECT_SITE_OPA_RELEASES} else '[]' end as "siteOpaReleases"`;

/** Runs that trigger each other, from one to the next. */
const MAX_TRIGGERS = 20;

/** The ids of those who have caused the run `r`, as a column; none unless the run waits for an override. */
export const RUN_AUTHORS = sql.raw(`case when r.status <> 'post_plan_awaiting_decision' then '{}'::text[] else array(
  with recursive causes as (
    select r.created_by, r.configuration_version, r.options #>> '{triggeredBy,run}' as cause, 1 as depth
     union all
    select o.created_by, o.configuration_version, o.options #>> '{triggeredBy,run}', c.depth + 1
      from causes c join runs o on o.id = c.cause where c.depth < ${MAX_TRIGGERS})
  select c.created_by ->> 'id' from causes c
   union select cv.created_by ->> 'id' from causes c join configuration_versions cv on cv.id = c.configuration_version) end`);

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

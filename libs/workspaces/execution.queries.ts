import { sql } from '#kernel';

/*
 * Where runs of a workspace are executed, over the rows `w` of workspaces, `p` of its project and `o` of its
 * organization: what it says itself counts, else its project, else its organization.
 */
const OWN_MODE = `(w.settings -> 'settingOverwrites' ->> 'executionMode')::boolean`;
const OWN_POOL = `(w.settings -> 'settingOverwrites' ->> 'agentPool')::boolean`;

export const EXECUTION_MODE = sql.raw(`case when ${OWN_MODE} then w.settings ->> 'executionMode'
  else coalesce(p.settings ->> 'defaultExecutionMode', o.settings ->> 'defaultExecutionMode') end`);

/** The pool is that of whoever says the mode. */
export const AGENT_POOL = sql.raw(`case when ${OWN_POOL} or ${OWN_MODE} then w.settings ->> 'agentPoolId'
  when p.settings ->> 'defaultExecutionMode' is null then o.settings ->> 'defaultAgentPool'
  else p.settings ->> 'defaultAgentPoolId' end`);

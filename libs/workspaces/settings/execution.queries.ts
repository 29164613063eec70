import { sql } from '#kernel';

/*
 * Where runs of a workspace are executed, over the rows `w` of workspaces, `p` of its project and `o` of its
 * organization: what it says itself counts, else its project, else its organization.
 */
const OWN_MODE = `(w.settings -> 'settingOverwrites' ->> 'executionMode')::boolean`;
const OWN_POOL = `(w.settings -> 'settingOverwrites' ->> 'agentPool')::boolean`;

const DEFAULT_MODE = `coalesce(p.settings ->> 'defaultExecutionMode', o.settings ->> 'defaultExecutionMode')`;

/** The mode of a workspace that says none itself. */
export const INHERITED_MODE = sql.raw(DEFAULT_MODE);

export const EXECUTION_MODE = sql.raw(
  `case when ${OWN_MODE} then w.settings ->> 'executionMode' else ${DEFAULT_MODE} end`,
);

/** The pool is that of whoever says the mode; who only says the pool has it as long as the mode is the agents'. */
export const AGENT_POOL = sql.raw(`case
  when ${OWN_MODE} or (${OWN_POOL} and ${DEFAULT_MODE} = 'agent') then w.settings ->> 'agentPoolId'
  when p.settings ->> 'defaultExecutionMode' is null then o.settings ->> 'defaultAgentPool'
  else p.settings ->> 'defaultAgentPoolId' end`);

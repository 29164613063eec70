import { sql } from '#platform/kernel';

/**
 * SQL for the execution mode of a workspace, over the rows `w` of workspaces, `p` of its project and `o` of its
 * organization: its own mode, else the project's, else the organization's.
 */
const OWN_MODE = `(w.settings -> 'settingOverwrites' ->> 'executionMode')::boolean`;
const OWN_POOL = `(w.settings -> 'settingOverwrites' ->> 'agentPool')::boolean`;

const DEFAULT_MODE = `coalesce(p.settings ->> 'defaultExecutionMode', o.settings ->> 'defaultExecutionMode')`;

/** The mode of a workspace without its own mode. */
export const INHERITED_MODE = sql.raw(DEFAULT_MODE);

export const EXECUTION_MODE = sql.raw(
  `case when ${OWN_MODE} then w.settings ->> 'executionMode' else ${DEFAULT_MODE} end`,
);

/**
 * The pool belongs to whichever of them sets the mode. A workspace with only a pool of its own keeps it in agent mode.
 */
export const AGENT_POOL = sql.raw(`case
  when ${OWN_MODE} or (${OWN_POOL} and ${DEFAULT_MODE} = 'agent') then w.settings ->> 'agentPoolId'
  when p.settings ->> 'defaultExecutionMode' is null then o.settings ->> 'defaultAgentPool'
  else p.settings ->> 'defaultAgentPoolId' end`);

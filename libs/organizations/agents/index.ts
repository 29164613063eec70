export { AgentPoolWorkspaces } from './agent-pools/agent-pool-workspaces.port.js';
export { selectRelatedAgentPools } from './agent-pools/agent-pools.related.js';
export type { AgentPoolDeleted } from './agent-pools/agent-pool.js';
export { AgentsModule, agentsDefinition } from './agents.module.js';
export { recordPing, upsertPing } from './agents/agents.queries.js';
export { ERRORED_AFTER_MS as SILENT_AGENT_MS } from './agents/agent.js';
export {
  createSitePool,
  deleteSitePool,
  listSitePoolsForOperator,
  type SitePoolOverview,
} from './agent-pools/site-pools.operator.js';
export { AGENT_POOL_NAMES } from './agent-pools/agent-pool-names.js';
export {
  EXECUTES_REMOTE_RUNS,
  expectPoolVersion,
  isPoolUsableBy,
  acceptsPhase,
  selectPoolCapacity,
  selectUsablePoolVersion,
  USES_SITE_POOLS,
} from './agent-pools/usable-pools.queries.js';

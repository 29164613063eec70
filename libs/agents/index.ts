export { AgentPoolWorkspaces } from './agent-pool-workspaces.port.js';
export { AgentsModule } from './agents.module.js';
export { agentsDefinition } from './agents.slice.js';
export { expectPoolVersion, isPoolUsableBy, selectUsablePoolVersion } from './usable-pools.queries.js';

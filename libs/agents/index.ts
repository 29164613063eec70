export { AgentPoolWorkspaces } from './agent-pool-workspaces.port.js';
export { AgentsModule } from './agents.module.js';
export { agentsSlice } from './agents.slice.js';
export { heldPool, letsUse, usablePoolVersion } from './usable-pools.queries.js';

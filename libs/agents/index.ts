export { AgentsModule } from './agents.module.js';
export { agentsSlice } from './agents.slice.js';

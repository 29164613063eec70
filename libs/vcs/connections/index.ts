export { connectionsDefinition, ConnectionsModule } from './connections.module.js';
export { requireConnectionUse, selectConnectionUse } from './connection-use.queries.js';

export { connectionsDefinition, ConnectionsModule } from './connections.module.js';

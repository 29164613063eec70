export { ConnectionTokens } from './connection-tokens.service.js';
export { connectionsDefinition, ConnectionsModule } from './connections.module.js';
export { renderOauthClient } from './oauth-clients.document.js';
export { Connections } from './connections.service.js';
export { findOauthClientForUse, listOauthClientsByIds } from './oauth-clients.view.js';
export { refuseConnectionUse, requireConnectionUse, selectConnectionUse } from './connection-use.queries.js';

export { ConnectionTokens } from './connection-tokens.service.js';
export { connectionsDefinition, ConnectionsModule } from './connections.module.js';
export { renderOauthClient } from './oauth-clients.document.js';
export { listOauthClientsByIds } from './oauth-clients.view.js';
export { requireConnectionUse, selectConnectionUse } from './connection-use.queries.js';

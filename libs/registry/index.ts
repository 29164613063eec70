export { createAbandonedUploadsJob } from './abandoned-uploads.chore.js';
export { createDeletedProvidersJob } from './deleted-providers.chore.js';
export { RegistryModule } from './registry.module.js';
export { registryDefinition } from './registry.slice.js';
export { createReleaseSweeper } from './release-sweeper.follower.js';

export { abandonedUploads } from './abandoned-uploads.chore.js';
export { deletedProviders } from './deleted-providers.chore.js';
export { RegistryModule } from './registry.module.js';
export { registrySlice } from './registry.slice.js';
export { releaseSweeper } from './release-sweeper.follower.js';

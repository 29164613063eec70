export { abandonedUploads } from './abandoned-uploads.chore.js';
export { RegistryModule } from './registry.module.js';
export { registrySlice } from './registry.slice.js';
export { releaseSweeper } from './release-sweeper.follower.js';

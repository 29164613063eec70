export { createAbandonedUploadsJob } from './release-files/abandoned-uploads.job.js';
export { createDeletedProvidersJob } from './providers/deleted-providers.job.js';
export { publishedRegistry } from './registry.published.js';
export { createExpiredProvidersJob } from './providers/expired-providers.job.js';
export { ChangeRegistryProvider } from './providers/registry-providers.handler.js';
export { ProtocolErrorsFilter, renderWithEtag } from './provider-protocol/protocol.responses.js';
export { RegistryModule, registryDefinition } from './registry.module.js';
export { buildDownloadResponse } from './release-files/release.downloads.js';
export { createReleaseSweeper } from './release-files/release-sweeper.follower.js';

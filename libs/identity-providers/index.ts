export { identityProvidersDefinition } from './identity-providers.definition.js';
export { IdentityProvidersModule, type IdentityProvidersOptions } from './identity-providers.module.js';
export { createProviderAccessJob } from './sign-in/provider-access.job.js';
export { ProvisionedUsers } from './sign-in/provisioned-users.port.js';

export {
  identityProvidersDefinition,
  IdentityProvidersModule,
  type IdentityProvidersOptions,
} from './identity-providers.module.js';
export { createProviderAccessJob } from './sign-in/provider-access.job.js';
export { SignInGroups } from './sign-in/sign-in-groups.service.js';
export { ProvisionedUsers } from './sign-in/provisioned-users.port.js';

export {
  buildAuthorizationAddress,
  HostAuthorization,
  type GrantedToken,
  type HostApplication,
} from './host-authorization.http.js';
export { DELIVERIES, GitHosts } from './git-hosts.service.js';
export {
  GitHostError,
  MAX_PULL_REQUESTS,
  MAX_TAGS,
  MISSING_RIGHTS,
  type GitHost,
  type GitHostFailure,
  type HostBranchCommit,
  type HostCommit,
  type HostPullRequest,
  type HostRepository,
} from './git-host.js';
export {
  CONNECTED_PROVIDERS,
  isConnectedProvider,
  SERVICE_PROVIDERS,
  type ConnectedProvider,
  type ServiceProvider,
} from './service-providers.js';

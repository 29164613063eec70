import { createOutboundFetch, PrivateHosts, type OutboundFetch } from '#platform/outbound';
import { createGiteaHost } from './gitea.host.js';
import type { GitHost } from './git-host.js';
import type { ConnectedProvider } from './service-providers.js';

/** Where a Git host is, and what opens it. */
type HostAccess = {
  readonly provider: ConnectedProvider;
  readonly apiUrl: string;
  readonly token: string;
};

const TIMEOUT_MS = 10_000;
/** A page of 100 repositories of Gitea has about 400 KB. */
const MAX_BYTES = 4 * 1_048_576;

/** Opens Git hosts. Requests reach private addresses only if CADASTRE_OUTBOUND_PRIVATE_HOSTS permits them. */
export class GitHosts {
  private readonly fetch: OutboundFetch;

  constructor(outboundPrivateHosts: readonly string[]) {
    const privateHosts = new PrivateHosts(outboundPrivateHosts);
    this.fetch = createOutboundFetch({ privateHosts, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  }

  open({ provider, apiUrl, token }: HostAccess): GitHost {
    return CREATE[provider](this.fetch, apiUrl, token);
  }
}

const CREATE: Readonly<Record<ConnectedProvider, typeof createGiteaHost>> = {
  gitea: createGiteaHost,
  forgejo: createGiteaHost,
};

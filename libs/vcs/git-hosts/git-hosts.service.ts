import { createOutboundFetch, PrivateHosts, type OutboundFetch } from '#platform/outbound';
import { giteaDeliveries } from './gitea-deliveries.http.js';
import { createGiteaHost } from './gitea.host.js';
import { githubDeliveries } from './github-deliveries.http.js';
import { createGithubHost } from './github.host.js';
import { gitlabDeliveries } from './gitlab-deliveries.http.js';
import { createGitlabHost } from './gitlab.host.js';
import type { DeliveryFormat, GitHost } from './git-host.js';
import { HostAuthorization } from './host-authorization.http.js';
import type { HostFetches } from './host-requests.http.js';
import type { ConnectedProvider } from './service-providers.js';

/** Where a Git host is, and what opens it. */
type HostAccess = {
  readonly provider: ConnectedProvider;
  readonly apiUrl: string;
  readonly token: string;
  /** Ends all requests, however many there are. Without it, each request has its own limit. */
  readonly deadline?: AbortSignal;
  /** Called with whether the host accepts the token, after each answer that shows it. */
  readonly onAnswer?: (isAccepted: boolean) => Promise<void>;
};

const TIMEOUT_MS = 10_000;
/** A page of 100 repositories of Gitea has about 400 KB. */
const MAX_BYTES = 4 * 1_048_576;
/** GitHub limits trees to 7 MB. */
const MAX_LARGE_BYTES = 8 * 1_048_576;
const FILE_TIMEOUT_MS = 60_000;
/** Archives of commits are in memory while they are fetched. */
const MAX_FILE_BYTES = 64 * 1_048_576;

/** Opens Git hosts. Requests reach private addresses only if CADASTRE_OUTBOUND_PRIVATE_HOSTS permits them. */
export class GitHosts {
  /** Requests tokens of the hosts for OAuth applications. */
  readonly authorization: HostAuthorization;
  private readonly fetches: HostFetches;

  constructor(outboundPrivateHosts: readonly string[]) {
    const shared = { privateHosts: new PrivateHosts(outboundPrivateHosts), returnsRedirects: true };
    this.fetches = {
      documents: createOutboundFetch({ ...shared, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }),
      largeDocuments: createOutboundFetch({ ...shared, timeoutMs: FILE_TIMEOUT_MS, maxBytes: MAX_LARGE_BYTES }),
      files: createOutboundFetch({ ...shared, timeoutMs: FILE_TIMEOUT_MS, maxBytes: MAX_FILE_BYTES }),
    };
    this.authorization = new HostAuthorization(this.fetches.documents);
  }

  open({ provider, apiUrl, token, deadline, onAnswer }: HostAccess): GitHost {
    const fetches = onAnswer ? observeFetches(this.fetches, apiUrl, onAnswer) : this.fetches;
    return CREATE[provider](fetches, apiUrl, token, deadline);
  }
}

const observeFetches = (
  fetches: HostFetches,
  apiUrl: string,
  onAnswer: NonNullable<HostAccess['onAnswer']>,
): HostFetches => {
  const { origin } = new URL(apiUrl);
  const observe =
    (fetch: OutboundFetch): OutboundFetch =>
    async (url, request) => {
      const response = await fetch(url, request);
      // Other servers, which have archives, do not get the token.
      if (new URL(url).origin === origin && (response.ok || response.status === 401)) await onAnswer(response.ok);
      return response;
    };
  const { documents, largeDocuments, files } = fetches;
  return { documents: observe(documents), largeDocuments: observe(largeDocuments), files: observe(files) };
};

const CREATE: Readonly<Record<ConnectedProvider, typeof createGiteaHost>> = {
  github: createGithubHost,
  github_enterprise: createGithubHost,
  gitlab_hosted: createGitlabHost,
  gitlab_community_edition: createGitlabHost,
  gitlab_enterprise_edition: createGitlabHost,
  gitea: createGiteaHost,
  forgejo: createGiteaHost,
};

/** What the kinds of hosts send to webhooks. */
export const DELIVERIES: Readonly<Record<ConnectedProvider, DeliveryFormat>> = {
  github: githubDeliveries,
  github_enterprise: githubDeliveries,
  gitlab_hosted: gitlabDeliveries,
  gitlab_community_edition: gitlabDeliveries,
  gitlab_enterprise_edition: gitlabDeliveries,
  gitea: giteaDeliveries,
  forgejo: giteaDeliveries,
};

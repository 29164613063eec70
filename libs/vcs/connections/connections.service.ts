import { Refusal, unprocessable, unavailable, tooManyRequests } from '#platform/kernel';
import { Vault } from '#storage/vault';
import {
  CONNECTED_PROVIDERS,
  GitHostError,
  GitHosts,
  isConnectedProvider,
  SERVICE_PROVIDERS,
  type ConnectedProvider,
  type GitHost,
  type GitHostFailure,
  type ServiceProvider,
} from '#vcs/git-hosts';
import type { OauthClientRow } from './oauth-clients.view.js';

/** What opens the Git host of a connection. */
type ConnectionCredential = {
  readonly serviceProvider: string;
  readonly apiUrl: string;
  readonly text: string;
};

/** The attribute that a failure of a new connection is most likely about. */
const ATTRIBUTES: Readonly<Record<GitHostFailure, 'api-url' | 'oauth-token-string'>> = {
  unauthorized: 'oauth-token-string',
  forbidden: 'oauth-token-string',
  'rate-limited': 'oauth-token-string',
  'not-found': 'api-url',
  unavailable: 'api-url',
  'out-of-time': 'api-url',
  unexpected: 'api-url',
};

const DEFAULT_PAUSE_S = 60;

/** For all requests to the host that one request of a caller needs. A tree can have many pages. */
const USE_WITHIN_MS = 10_000;

/** Throws 422 for a kind of host that cannot be connected. */
export const requireConnectedProvider = (provider: string): ConnectedProvider => {
  if (isKnownProvider(provider) && isConnectedProvider(provider)) return provider;
  const label = isKnownProvider(provider) ? SERVICE_PROVIDERS[provider] : provider;
  throw unprocessable(
    `Service provider ${label} cannot be connected, accepted are ${CONNECTED_PROVIDERS.join(', ')}`,
    'service-provider',
  );
};

const isKnownProvider = (provider: string): provider is ServiceProvider => Object.hasOwn(SERVICE_PROVIDERS, provider);

/** Opens the Git hosts of connections. */
export class Connections {
  constructor(
    private readonly hosts: GitHosts,
    private readonly vault: Vault,
  ) {}

  /** Returns the name of the account that a token belongs to. Throws 422 if the host does not confirm the token. */
  async verifyToken({ serviceProvider, apiUrl, text }: ConnectionCredential): Promise<string> {
    const provider = requireConnectedProvider(serviceProvider);
    try {
      return (await this.hosts.open({ provider, apiUrl, token: text }).getUser()).name;
    } catch (error) {
      if (error instanceof GitHostError) throw unprocessable(error.message, ATTRIBUTES[error.failure]);
      throw error;
    }
  }

  /** Runs requests to the Git host of a connection for a caller. Failures of the host become refusals. */
  async use<T>(client: OauthClientRow, work: (host: GitHost) => Promise<T>): Promise<T> {
    const text = client.token === null ? undefined : await this.vault.open(client.token);
    if (text === undefined) throw unprocessable('The connection has no token');
    const provider = requireConnectedProvider(client.serviceProvider);
    const deadline = AbortSignal.timeout(USE_WITHIN_MS);
    try {
      return await work(this.hosts.open({ provider, apiUrl: client.apiUrl, token: text, deadline }));
    } catch (error) {
      throw error instanceof GitHostError ? toRefusal(error) : error;
    }
  }
}

const toRefusal = ({ failure, message, retryAfter }: GitHostError): Refusal => {
  if (failure === 'rate-limited') return tooManyRequests(message, retryAfter ?? DEFAULT_PAUSE_S);
  return failure === 'unavailable' || failure === 'out-of-time'
    ? unavailable(message, retryAfter ?? DEFAULT_PAUSE_S)
    : unprocessable(message);
};

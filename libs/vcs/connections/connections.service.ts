import { notFound, Refusal, unprocessable, unavailable, tooManyRequests } from '#platform/kernel';
import type { Vault } from '#storage/vault';
import {
  CONNECTED_PROVIDERS,
  GitHostError,
  GitHosts,
  isConnectedProvider,
  SERVICE_PROVIDERS,
  type ConnectedProvider,
  type GitHost,
  type GitHostFailure,
  type GrantedToken,
  type HostAuthorization,
  type ServiceProvider,
} from '#vcs/git-hosts';
import type { ConnectionTokens } from './connection-tokens.service.js';
import { toClientSecretId, type OauthClientRow } from './oauth-clients.view.js';

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
    private readonly tokens: Pick<ConnectionTokens, 'open' | 'recordAnswer'>,
    private readonly vault: Pick<Vault, 'open'>,
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

  /** Returns the token that a Git host grants for the code with which it has sent a browser back. */
  async exchangeCode(
    { key, id, httpUrl, serviceProvider }: OauthClientRow,
    code: Parameters<HostAuthorization['exchange']>[1],
  ): Promise<GrantedToken> {
    const secret = await this.vault.open(toClientSecretId(id));
    if (key === null || secret === undefined) throw notFound();
    const provider = requireConnectedProvider(serviceProvider);
    try {
      return await this.hosts.authorization.exchange({ provider, httpUrl, key, secret }, code);
    } catch (error) {
      throw error instanceof GitHostError ? toRefusal(error) : error;
    }
  }

  /** Runs requests to the Git host of a connection for a caller. Failures of the host become refusals. */
  async use<T>(client: OauthClientRow, work: (host: GitHost) => Promise<T>): Promise<T> {
    const { token, apiUrl } = client;
    const provider = requireConnectedProvider(client.serviceProvider);
    try {
      const text = token === null ? undefined : await this.tokens.open(token);
      if (token === null || text === undefined) throw unprocessable(describeMissingToken(client));
      const deadline = AbortSignal.timeout(USE_WITHIN_MS);
      const onAnswer = (isAccepted: boolean): Promise<void> => this.tokens.recordAnswer(token, text, isAccepted);
      return await work(this.hosts.open({ provider, apiUrl, token: text, deadline, onAnswer }));
    } catch (error) {
      throw error instanceof GitHostError ? toRefusal(error) : error;
    }
  }
}

const describeMissingToken = ({ key }: OauthClientRow): string =>
  key === null
    ? 'The connection has no token. Store another oauth-token-string'
    : 'The connection has no token. Open its connect-path in a browser to authorize it at the Git host';

const toRefusal = ({ failure, message, retryAfter }: GitHostError): Refusal => {
  if (failure === 'rate-limited') return tooManyRequests(message, retryAfter ?? DEFAULT_PAUSE_S);
  return failure === 'unavailable' || failure === 'out-of-time'
    ? unavailable(message, retryAfter ?? DEFAULT_PAUSE_S)
    : unprocessable(message);
};

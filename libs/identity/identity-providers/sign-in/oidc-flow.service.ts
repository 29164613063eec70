import { jwtVerify, type JWTPayload } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  Configuration,
  customFetch,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { Clock } from '#platform/kernel';
import { getCallbackPath } from '../providers/identity-providers.document.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import type { ProviderDirectory } from '../providers/provider-directory.service.js';
import { isLogoutType, parseLogoutClaims, type LogoutClaims } from '../protocol/logout-claims.js';
import { needsMoreClaims, parseIdentityClaims, type IdentityClaims } from '../protocol/identity-claims.js';
import type { ProviderConnection, ProviderConnections } from '../protocol/provider-connections.service.js';
import { SIGNING_ALGORITHMS } from '../protocol/provider-discovery.http.js';
import { ProviderFault, toProviderFault } from '../protocol/provider-fault.js';
import { PROVIDER_TIMEOUT_MS } from '../protocol/provider-fetch.http.js';
import { CLOCK_TOLERANCE_SECONDS, requireRecent, type SignInChecks, type StartedSignIn } from './sign-in-checks.js';

/** The largest age of a logout token in seconds, besides the tolerance (Back-Channel Logout 1.0 §4). */
export const LOGOUT_TOKEN_SECONDS = 120;

/** The authorization code flow with PKCE (OpenID Connect Core 1.0 §3.1, RFC 7636, RFC 9207). */
export class OidcFlow {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly connections: ProviderConnections,
    private readonly clock: Clock,
    private readonly publicUrl: string,
  ) {}

  /** `maxAge` as in `SignInChecks`. Throws `ProviderFault` if the provider cannot be reached. */
  start(provider: IdentityProviderRow, maxAge: number | null): Promise<StartedSignIn> {
    const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), maxAge };
    return this.use(provider, async (configuration) => {
      const address = buildAuthorizationUrl(configuration, {
        redirect_uri: `${this.publicUrl}${getCallbackPath(provider.id)}`,
        scope: provider.settings.scopes.join(' '),
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        ...(maxAge === null ? {} : { max_age: String(maxAge) }),
      });
      return { address: address.href, checks };
    });
  }

  /**
   * Returns what the provider states about the person whose browser it has sent to `path`, the callback with its query.
   * Throws `ProviderFault` if anything is missing or not valid.
   */
  finish(provider: IdentityProviderRow, checks: SignInChecks, path: string): Promise<IdentityClaims> {
    const { settings } = provider;
    const { state, nonce, verifier, maxAge } = checks;
    return this.use(provider, async (configuration, { keys, fetchFromProvider, metadata }) => {
      const tokens = await authorizationCodeGrant(configuration, new URL(path, this.publicUrl), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      // The library relies on TLS and does not check signatures by itself.
      const { payload } = await jwtVerify(tokens.id_token ?? '', keys.createFinder(fetchFromProvider), {
        ...this.buildChecks(settings),
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      refuseFutureToken(payload, this.clock.now());
      const hasUserinfo = metadata.userinfo_endpoint !== undefined && needsMoreClaims(payload, settings);
      const userinfo = hasUserinfo ? await fetchUserInfo(configuration, tokens.access_token, payload.sub ?? '') : {};
      const claims = parseIdentityClaims(payload, userinfo, settings);
      if (!claims) throw new ProviderFault('invalid', 'the subject is not 1 to 255 visible characters');
      if (maxAge !== null) requireRecent(claims, maxAge, this.clock.now());
      return claims;
    });
  }

  /** Returns what the provider has ended. Throws `ProviderFault` if the token is no valid logout token of the provider. */
  verifyLogoutToken(provider: IdentityProviderRow, token: string): Promise<LogoutClaims> {
    return this.use(provider, async (_, { keys, fetchFromProvider }) => {
      const { payload, protectedHeader } = await jwtVerify(token, keys.createFinder(fetchFromProvider), {
        ...this.buildChecks(provider.settings),
        requiredClaims: ['iat', 'exp', 'jti'],
        maxTokenAge: LOGOUT_TOKEN_SECONDS,
      });
      if (!isLogoutType(protectedHeader.typ)) throw new ProviderFault('invalid', 'typ must be logout+jwt');
      const claims = parseLogoutClaims(payload);
      if (!claims) throw new ProviderFault('invalid', 'the token is no logout token');
      return claims;
    });
  }

  /** Returns the provider's page to sign out; null if it has none, or cannot be reached. */
  async findSignOutAddress(provider: IdentityProviderRow): Promise<string | null> {
    try {
      return await this.use(provider, async (configuration, { metadata }) =>
        Promise.resolve(
          metadata.end_session_endpoint === undefined ? null : buildEndSessionUrl(configuration, {}).href,
        ),
      );
    } catch (error) {
      if (error instanceof ProviderFault) return null;
      throw error;
    }
  }

  private buildChecks({ issuer, clientId }: IdentityProviderRow['settings']) {
    return {
      algorithms: [...SIGNING_ALGORITHMS],
      issuer,
      audience: clientId,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: this.clock.now(),
    };
  }

  private async use<T>(
    provider: IdentityProviderRow,
    work: (configuration: Configuration, connection: ProviderConnection) => Promise<T>,
  ): Promise<T> {
    const clientSecret = await this.directory.getClientSecret(provider);
    return this.connections.use(provider.settings.issuer, async (connection) => {
      try {
        return await work(this.configure(provider, connection, clientSecret), connection);
      } catch (error) {
        throw toProviderFault(error);
      }
    });
  }

  private configure(
    { settings }: IdentityProviderRow,
    { metadata, fetchFromProvider }: ProviderConnection,
    clientSecret: string | null,
  ): Configuration {
    const client = {
      // The library reads the clock of the machine.
      [clockSkew]: Math.round((this.clock.now().getTime() - Date.now()) / 1_000),
      [clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    };
    const authentication = chooseAuthentication(metadata.token_endpoint_auth_methods_supported, clientSecret);
    const configuration = new Configuration(metadata, settings.clientId, client, authentication);
    configuration[customFetch] = fetchFromProvider;
    configuration.timeout = PROVIDER_TIMEOUT_MS / 1_000;
    if (settings.issuer.startsWith('http:')) allowInsecureRequests(configuration);
    return configuration;
  }
}

/** The libraries check `iat` only if the caller passes a maximum age. */
const refuseFutureToken = ({ iat = 0 }: JWTPayload, now: Date): void => {
  if (iat > now.getTime() / 1_000 + CLOCK_TOLERANCE_SECONDS) {
    throw new ProviderFault('invalid', 'the ID token was issued in the future (iat)');
  }
};

/** `client_secret_basic` is the default of OpenID Connect Discovery 1.0 §3. */
const chooseAuthentication = (supported: readonly string[] = ['client_secret_basic'], clientSecret: string | null) => {
  if (clientSecret === null) return None();
  return supported.includes('client_secret_basic') ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
};

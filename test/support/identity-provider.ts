import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, decodeJwt, importJWK, type JWK, type JWTPayload } from 'jose';
import { Provider, type ClientMetadata, type Configuration } from 'oidc-provider';
import { answerLogin, LOGIN_PATH } from './identity-provider-login.js';
import { createRecordStore, type ProviderRecords } from './identity-provider-records.js';

type TestClaims = Readonly<Record<string, unknown>>;

/**
 * How the provider changes the ID tokens that it has made. `key`: sign with a key that it does not publish. `token`:
 * replace the complete token.
 */
type TokenForgery = {
  readonly claims?: (claims: JWTPayload) => JWTPayload;
  readonly key?: 'unpublished';
  readonly token?: (claims: JWTPayload) => string | Promise<string>;
};

/**
 * A real OpenID provider (`oidc-provider`) on this machine. Its own login page accepts any password for a person of
 * `putPerson`, and asks for no consent.
 */
export type TestIdentityProvider = {
  readonly issuer: string;
  /** Adds clients, or replaces those with the same id. Sessions at the provider stay. */
  putClient(client: ClientMetadata): void;
  /** Adds a person, or replaces their claims. The login name is the subject. */
  putPerson(subject: string, claims?: TestClaims): void;
  /** Replaces the signing key. Tokens of the old key are not valid any more. */
  rotateKeys(): Promise<void>;
  /** From now on, changes each ID token before it is sent; null: sends them unchanged. */
  forgeIdTokens(forgery: TokenForgery | null): void;
  /** Returns a token with these claims, and `iss`, `iat` and `exp` unless they are given. `typ`: null for none. */
  signToken(
    claims: JWTPayload,
    options?: { readonly key?: 'unpublished'; readonly typ?: string | null },
  ): Promise<string>;
  /** While true, the provider answers every request with 503. */
  setAway(isAway: boolean): void;
  /** From now on, changes the discovery document before it is sent; null: sends it unchanged. */
  changeMetadata(change: ((metadata: TestClaims) => TestClaims) | null): void;
  /** While true, the provider answers no request. */
  setSilent(isSilent: boolean): void;
  /** What the token endpoint has answered so far, before any forgery. */
  readonly tokenResponses: readonly TestClaims[];
  /** Paths of the requests so far. */
  readonly requests: readonly string[];
  close(): Promise<void>;
};

const ALGORITHM = 'RS256';
const TOKEN_LIFE_S = 300;
/** Seconds. */
const LIFETIMES = { AccessToken: 600, Grant: 3_600, IdToken: 3_600, Interaction: 600, Session: 3_600 };
const DISCOVERY = '/.well-known/openid-configuration';

const makeKey = async (kid: string): Promise<JWK> => {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: ALGORITHM };
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

type ProviderState = {
  keys: readonly JWK[];
  readonly clients: Map<string, ClientMetadata>;
  readonly people: Map<string, TestClaims>;
  readonly records: ProviderRecords;
};

const configure = ({ keys, clients, people, records }: ProviderState): Configuration => ({
  adapter: (kind) => createRecordStore(kind, records),
  clients: [...clients.values()],
  jwks: { keys: keys as NonNullable<Configuration['jwks']>['keys'] },
  cookies: { keys: ['test'] },
  claims: {
    openid: ['sub'],
    profile: ['name', 'preferred_username'],
    email: ['email', 'email_verified'],
    groups: ['groups'],
  },
  // Like most providers, ID tokens contain the claims of the scopes.
  conformIdTokenClaims: false,
  features: {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true },
  },
  interactions: { url: (_, { uid }) => `${LOGIN_PATH}${uid}` },
  ttl: LIFETIMES,
  findAccount: (_, id) => {
    const claims = people.get(id);
    return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
  },
  // Grants what a client requests, so that the provider asks for no consent.
  loadExistingGrant: async (context) => {
    const { client, session, params } = context.oidc;
    const { Grant } = context.oidc.provider;
    if (!client || !session?.accountId) return undefined;
    const grant = new Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(params?.['scope'] as string);
    await grant.save();
    return grant;
  },
});

/** Passes the body of a JSON response through `change` before it is sent. */
const changeJson = (response: ServerResponse, change: (body: TestClaims) => Promise<TestClaims>): void => {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  const replaced = (body: unknown) => {
    void change(JSON.parse((body as string | Buffer).toString()) as TestClaims).then((changed) => {
      const sent = JSON.stringify(changed);
      response.setHeader('content-length', Buffer.byteLength(sent));
      end(sent);
    });
    return response;
  };
  response.end = replaced as typeof response.end;
};

export const startIdentityProvider = async (): Promise<TestIdentityProvider> => {
  let keyNumber = 1;
  const unpublished = await makeKey('unpublished');
  const state: ProviderState = {
    keys: [await makeKey('key-1')],
    clients: new Map(),
    people: new Map(),
    records: new Map(),
  };
  let forgery: TokenForgery | null = null;
  let isAway = false;
  let isSilent = false;
  let metadataChange: ((metadata: TestClaims) => TestClaims) | null = null;
  let provider: Provider;
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown;
  const requests: string[] = [];
  const tokenResponses: TestClaims[] = [];

  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (isSilent) return;
    if (isAway) return void response.writeHead(503).end();
    if (request.url === '/token') {
      changeJson(response, (body) => {
        tokenResponses.push(body);
        return forge(body);
      });
    }
    const change = metadataChange;
    if (change && request.url === DISCOVERY) changeJson(response, (body) => Promise.resolve(change(body)));
    if (request.url?.startsWith(LOGIN_PATH)) return void answerLogin(provider, request, response);
    return void handle(request, response);
  });
  const issuer = `http://localhost:${await listen(server)}`;
  const restart = (): void => {
    provider = new Provider(issuer, configure(state));
    handle = provider.callback();
  };
  restart();

  const signToken: TestIdentityProvider['signToken'] = async (claims, { key, typ = 'JWT' } = {}) => {
    const jwk = key === 'unpublished' ? unpublished : (state.keys[0] as JWK);
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ iss: issuer, iat: now, exp: now + TOKEN_LIFE_S, ...claims })
      .setProtectedHeader({ alg: ALGORITHM, kid: jwk.kid as string, ...(typ === null ? {} : { typ }) })
      .sign(await importJWK(jwk, ALGORITHM));
  };

  const forge = async (body: TestClaims): Promise<TestClaims> => {
    if (typeof body['id_token'] !== 'string' || !forgery) return body;
    const { claims = (same: JWTPayload) => same, key, token } = forgery;
    const changed = claims(decodeJwt(body['id_token']));
    return { ...body, id_token: token ? await token(changed) : await signToken(changed, key && { key }) };
  };

  return {
    issuer,
    requests,
    tokenResponses,
    signToken,
    putClient: (client) => {
      state.clients.set(client.client_id, client);
      restart();
    },
    putPerson: (subject, claims = {}) => void state.people.set(subject, claims),
    rotateKeys: async () => {
      keyNumber += 1;
      state.keys = [await makeKey(`key-${keyNumber}`)];
      restart();
    },
    forgeIdTokens: (next) => {
      forgery = next;
    },
    setAway: (next) => {
      isAway = next;
    },
    changeMetadata: (next) => {
      metadataChange = next;
    },
    setSilent: (next) => {
      isSilent = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An OAuth 2.0 token endpoint for client credentials. Its tokens have no signature. */
export type TokenEndpoint = {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes of the requests so far. */
  readonly requests: readonly (string | null)[];
  /** Lifetime of tokens in seconds. A negative lifetime makes expired tokens. */
  lifetime: number;
  close(): Promise<void>;
};

const CLIENT = { id: 'cadastre', secret: 'over the top & under/the=bottom' } as const;

export const startTokenEndpoint = async (lifetime = 3_600): Promise<TokenEndpoint> => {
  const requests: (string | null)[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const form = new URLSearchParams(body);
      requests.push(form.get('scope'));
      const [id, secret] = credentialsOf(request.headers.authorization);
      const isKnown = id === CLIENT.id && secret === CLIENT.secret && form.get('grant_type') === 'client_credentials';
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          isKnown
            ? {
                access_token: tokenWith(endpoint.lifetime),
                token_type: 'Bearer',
                expires_in: Math.abs(endpoint.lifetime),
              }
            : { error: 'invalid_client', error_description: `no client has the secret ${secret}` },
        ),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint: TokenEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    requests,
    lifetime,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return endpoint;
};

const credentialsOf = (header = ''): (string | undefined)[] =>
  Buffer.from(header.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
    .map((part) => new URLSearchParams(`x=${part}`).get('x') ?? undefined);

/** Returns an unsecured JWS (RFC 7515, appendix A.5), which Kafka's own test handler accepts. */
const tokenWith = (lifetime: number): string => {
  const now = Date.now() / 1_000;
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const issuedAt = lifetime < 0 ? now + 2 * lifetime : now;
  return `${encode({ alg: 'none' })}.${encode({ sub: 'cadastre', iat: issuedAt, exp: issuedAt + Math.abs(lifetime) })}.`;
};

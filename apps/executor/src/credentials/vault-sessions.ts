import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { z } from 'zod';
import { toHostAndPort, useAddresses } from '../sandbox/network/destinations.js';
import { CredentialError } from './credential-settings.js';
import type { VaultLogin } from './vault-login.js';

const TIMEOUT_MS = 30_000;
const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 3_600_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

const answerSchema = z.object({
  auth: z.object({ client_token: z.string().min(1), lease_duration: z.int().min(0), renewable: z.boolean() }),
});
const refusalSchema = z.object({ errors: z.array(z.string()) });

export type FindAddresses = (destination: {
  readonly host: string;
  readonly port: number;
}) => Promise<readonly string[]>;

type VaultExchange = Pick<VaultLogin, 'address' | 'namespace' | 'authority'> & {
  readonly path: string;
  readonly token: string | null;
  readonly body: object;
};

type VaultSession = VaultLogin & { readonly secret: string; timer: NodeJS.Timeout | null };

/** The tokens of Vault that a phase of a run has. They are renewed while the phase runs, and revoked at its end. */
export class VaultSessions {
  private readonly sessions: VaultSession[] = [];

  /** `findAddresses` refuses hosts that runs must not reach. */
  constructor(private readonly findAddresses: FindAddresses) {}

  /** Signs in. Resolves to a token of Vault. Throws a CredentialError with the reason of Vault. */
  async logIn(login: VaultLogin): Promise<string> {
    const { role, token: jwt, path } = login;
    const answer = await this.send({ ...login, token: null, path: `auth/${path}/login`, body: { role, jwt } });
    const { client_token: secret, lease_duration: seconds, renewable } = answerSchema.parse(answer).auth;
    const session: VaultSession = { ...login, secret, timer: null };
    this.sessions.push(session);
    if (renewable && seconds > 0) this.renewLater(session, seconds);
    return secret;
  }

  /** Revokes all tokens. A token that cannot be revoked ends with its lease. */
  async close(): Promise<void> {
    const sessions = this.sessions.splice(0);
    for (const { timer } of sessions) if (timer) clearTimeout(timer);
    await Promise.allSettled(
      sessions.map((session) =>
        this.send({ ...session, token: session.secret, path: 'auth/token/revoke-self', body: {} }),
      ),
    );
  }

  private renewLater(session: VaultSession, seconds: number): void {
    session.timer = setTimeout(
      () => {
        void this.send({ ...session, token: session.secret, path: 'auth/token/renew-self', body: {} }).then(
          (answer) => {
            const renewed = answerSchema.safeParse(answer);
            if (renewed.success && this.sessions.includes(session)) {
              this.renewLater(session, renewed.data.auth.lease_duration);
            }
          },
          // The lease ends, and Vault then refuses the run with a reason of its own.
          () => undefined,
        );
      },
      Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (seconds * 1000) / 2)),
    ).unref();
  }

  private async send({ address, namespace, authority, path, token, body }: VaultExchange): Promise<unknown> {
    const url = URL.canParse(address) ? new URL(`/v1/${path}`, address) : null;
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
      throw new CredentialError(`TFC_VAULT_ADDR must be an https:// or http:// address, got ${address}`);
    }
    const response = await this.findAddresses(toHostAndPort(url))
      .then((addresses) => this.exchange(url, useAddresses(addresses), { namespace, authority, token, body }))
      .catch((error: unknown) => {
        throw new CredentialError(`Vault at ${url.origin} cannot be reached: ${(error as Error).message}`);
      });
    if (response.status >= 200 && response.status < 300) return response.body;
    const { errors } = refusalSchema.catch({ errors: [] }).parse(response.body);
    throw new CredentialError(
      `Vault at ${url.origin} refuses ${path}: ${errors.join('; ') || `HTTP ${response.status}`}`,
    );
  }

  private exchange(
    url: URL,
    lookup: LookupFunction,
    { namespace, authority, token, body }: Pick<VaultExchange, 'namespace' | 'authority' | 'token' | 'body'>,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly body: unknown }>();
    const options = {
      method: 'POST',
      lookup,
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        ...(namespace === '' ? {} : { 'x-vault-namespace': namespace }),
        ...(token === null ? {} : { 'x-vault-token': token }),
      },
      ...(authority === null ? {} : { ca: authority }),
    };
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    send(url, options, (answer) => {
      readText(answer).then((content) => resolve({ status: answer.statusCode ?? 0, body: parseJson(content) }), reject);
    })
      .once('error', reject)
      .end(JSON.stringify(body));
    return promise;
  }
}

/** Resolves to the text of a response. Rejects if it is too large. */
const readText = async (answer: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the response has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const parseJson = (content: string): unknown => {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
};

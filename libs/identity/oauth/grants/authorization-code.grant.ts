import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import { Authenticator, createSystemContext, repeatWhileAccessChanges } from '#api/access';
import { EventStore } from '#storage/event-store';
import { Clock, Refusal } from '#platform/kernel';
import { ChangeAuthenticationToken, endToken, type IssuedToken } from '#identity/people';
import {
  linkToken,
  matchesChallenge,
  recordReplay,
  useAuthorizationCode,
  type AuthorizationCode,
} from '../codes/authorization-codes.queries.js';
import { OauthRefusal } from '#api/json-api';
import { describeLogin } from './login-description.js';
import { TokenGrant, type TokenAnswer, type TokenRequest } from './token.grant.js';

/**
 * Sent together with `error=access_denied`. Terraform ignores errors and waits for a code, and Ctrl+C does not stop it.
 * With this code it asks for a token at once, and shows the refusal.
 */
export const DENIED_CODE = 'access-denied';

export const authorizationCodeForm = z.object({
  code: z.string().min(1).max(200),
  redirect_uri: z.string().max(200),
  client_id: z.string().max(100),
  // RFC 7636 §4.1.
  code_verifier: z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/, 'must have 43 to 128 letters, digits or -._~'),
});
type AuthorizationCodeForm = z.infer<typeof authorizationCodeForm>;

const refuse = (description: string): OauthRefusal => new OauthRefusal('invalid_grant', description);

const checkBinding = (code: AuthorizationCode, form: AuthorizationCodeForm): void => {
  if (code.isExpired) throw refuse('The code has expired. Start the login again.');
  if (code.clientId !== form.client_id) throw refuse('The code was issued to another client.');
  if (code.redirectUri !== form.redirect_uri) throw refuse('The code was issued for another redirect_uri.');
  if (!matchesChallenge(form.code_verifier, code.codeChallenge)) {
    throw refuse('code_verifier: does not match the code_challenge of the code.');
  }
};

/** Converts refusals of the command, such as a quota, into an error of OAuth. */
const toOauthRefusal = (error: unknown): unknown =>
  error instanceof Refusal && ['unprocessable', 'not-found', 'forbidden'].includes(error.kind)
    ? refuse(error.message)
    : error;

/** Exchanges a code that a person has approved for a token of the person (RFC 6749 §4.1.3). */
@Injectable()
export class AuthorizationCodeGrant extends TokenGrant<AuthorizationCodeForm> {
  readonly grantType = 'authorization_code';
  readonly form = authorizationCodeForm;
  private readonly logger = new Logger('OAuth');

  constructor(
    private readonly store: EventStore,
    private readonly bus: CommandBus,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {
    super();
  }

  async issue(form: AuthorizationCodeForm, request: TokenRequest): Promise<TokenAnswer> {
    const { database } = this.store;
    if (form.code === DENIED_CODE) throw new OauthRefusal('access_denied', 'The login was denied in the browser.');
    const now = this.clock.now();
    // Used up before it is checked: a program that sends a code with wrong parameters may have stolen it.
    const code = await useAuthorizationCode(database, form.code, now);
    if (!code) return this.refuseUnusable(form.code, now, request);
    checkBinding(code, form);
    const token = await this.issueTo(code, request, now);
    if (!(await linkToken(database, form.code, token.id))) {
      await this.revoke(token.id, request);
      throw refuse('The code was used twice.');
    }
    const seconds = token.expiredAt === null ? null : Math.floor((Date.parse(token.expiredAt) - now.getTime()) / 1_000);
    return {
      access_token: token.secret,
      token_type: 'Bearer',
      ...(seconds === null ? {} : { expires_in: seconds }),
    };
  }

  /** Issues a token with the assurance of the session in which the person approved, if that session has not ended. */
  private issueTo({ user, session }: AuthorizationCode, request: TokenRequest, now: Date): Promise<IssuedToken> {
    const at = now.toISOString();
    const description = describeLogin({ userAgent: request.userAgent, address: request.address, at });
    return repeatWhileAccessChanges(async () => {
      const identity = await this.authenticator.findSessionIdentity(session);
      if (identity?.id !== user) throw refuse('The session in which the login was approved has ended.');
      const command = new ChangeAuthenticationToken('IssueToken', {
        owner: { kind: 'user', key: user },
        token: { description, expiredAt: null },
        replaces: false,
        actor: { ...identity, request },
      });
      return this.bus.execute(command);
    }).catch((error: unknown) => {
      throw toOauthRefusal(error);
    });
  }

  /** Refuses an unknown code, and a used one, whose token is revoked (RFC 6749 §4.1.2). */
  private async refuseUnusable(code: string, now: Date, request: TokenRequest): Promise<never> {
    const token = await recordReplay(this.store.database, code, now);
    if (token === undefined) throw refuse('The code is unknown. Start the login again.');
    this.logger.warn('Authorization code used twice', { token, address: request.address });
    if (token !== null) await this.revoke(token, request);
    throw refuse('The code was used already. If it had led to a token, that token is revoked.');
  }

  private async revoke(token: string, request: TokenRequest): Promise<void> {
    const context = { ...createSystemContext('OAuth', request.id ?? ''), request };
    await endToken(this.store, token, context).catch((error: unknown) => {
      // The person has revoked it already.
      if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
    });
  }
}

import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import {
  createPersonContext,
  createSystemContext,
  formatSessionCookie,
  type Actor,
  type TwoFactorRule,
} from '#api/access';
import type { Envelope } from '#platform/encryption';
import type { EventStore } from '#storage/event-store';
import { Refusal, sql, type Clock, type EventContext, type Ids } from '#platform/kernel';
import { endSessions, revokeTokensOf, startSession, type SignIn } from '#identity/people';
import {
  admitAttempt,
  countByAddress,
  forgiveAttempts,
  requireNoDelay,
  type AttemptCounter,
} from '../attempts/attempts.queries.js';
import { useSignInLink } from '../links/sign-in-links.operator.js';
import { ChangeSignInMethods, createMethodsReset, type MethodsChange } from '../methods/sign-in-methods.handler.js';
import type { FailedMethod, LinkedIdentity } from '../methods/sign-in-methods.js';
import { recordPasskeyUse } from '../passkeys/passkeys.queries.js';
import type { PasskeyAnswer, PasskeyCeremonies } from '../passkeys/passkey-ceremonies.service.js';
import type { PasswordHasher } from '../passwords/password-hasher.service.js';
import type { RefusedSignIn, RefusedSignInRecorder } from '../refusals/refused-sign-ins.recorder.js';
import { useRecoveryCode, useTotpCode } from '../totp/totp.queries.js';
import { findSignInAccount, hasNewerPassword, requiresSecondFactor } from './accounts.queries.js';
import {
  DEVICE_COOKIE,
  formatCookie,
  formatRemovedCookie,
  readCookie,
  SECOND_FACTOR_COOKIE,
} from './sign-in-cookies.js';
import type { SignInOptions } from './sign-in-options.js';
import type { SignInTokens } from '../sign-in-tokens.service.js';

const SECOND_FACTOR_MS = 10 * 60_000;
const DEVICE_MS = 180 * 86_400_000;

/** The request of a person who signs in. `actor`: of a session that the browser has already, which then ends. */
export type SignInRequest = {
  readonly request: EventContext['request'];
  readonly cookies: string | undefined;
  readonly actor: Actor | null;
};

/** The result of a step. `cookies` are values of Set-Cookie. */
export type SignInResult =
  | { readonly outcome: 'signed-in' | 'needs-second-factor'; readonly cookies: readonly string[] }
  | { readonly outcome: 'failed' };

const FAILED: SignInResult = { outcome: 'failed' };

const providerProof = z.object({
  /** Id of the identity provider. */
  provider: z.string(),
  /** The provider's own id of the person's session, if it has one. */
  providerSession: z.string().nullable(),
  /** When the person authenticated at the provider, if it states that. */
  authenticatedAt: z.iso.datetime().nullable(),
  /** When the session must end, if the provider limits it. Earlier processes do not state it. */
  sessionEnd: z.iso.datetime().nullable().default(null),
});

/** What an identity provider has proved about a person. */
type ProvedIdentity = z.infer<typeof providerProof> & {
  readonly user: string;
  /** Whether the provider has required a second factor. Otherwise the person's own one-time codes count. */
  readonly provesTwoFactor: boolean;
};

const pendingContent = z.object({
  user: z.string(),
  method: z.enum(['password', 'link', 'oidc']),
  at: z.iso.datetime(),
  proof: providerProof.optional(),
});
type PendingSignIn = z.infer<typeof pendingContent>;
const deviceContent = z.object({ user: z.string(), device: z.string() });

export type SignInServices = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sessionHours: number;
  readonly tokens: SignInTokens;
  readonly totpEnvelope: Envelope;
  readonly hasher: PasswordHasher;
  readonly ceremonies: PasskeyCeremonies;
  readonly options: SignInOptions;
  readonly refusals: RefusedSignInRecorder;
  readonly twoFactor: TwoFactorRule;
};

/** The steps of a sign-in, from the first factor to the session. */
@Injectable()
export class SignInFlow {
  constructor(
    private readonly dependencies: SignInServices,
    private readonly bus: CommandBus,
  ) {}

  async signInWithPassword(
    { login, password }: { readonly login: string; readonly password: string },
    request: SignInRequest,
  ): Promise<SignInResult> {
    const { store, hasher } = this.dependencies;
    const { account, foldedLogin } = await findSignInAccount(store.database, login);
    // Counts the typed text. A count of the account would show that a name and an address belong to the same account.
    const counters = this.listCounters({ user: account?.id, counted: `login ${foldedLogin}` }, request);
    await this.admit(counters, account?.id ?? null, request);
    if (!(await hasher.verify(password, account?.passwordHash ?? null)) || !account) {
      if (account) await this.recordFailure(account.id, 'password', request);
      else await this.recordRefusal({ reason: 'unknown-account', name: foldedLogin }, request);
      return FAILED;
    }
    // Codes have a counter of their own.
    await this.forgive(counters);
    if (account.hasTotp) return this.requireCode(account.id, 'password');
    return this.start({ user: account.id, method: 'password', assurance: 'password' }, request);
  }

  /** Uses the link up. */
  async signInWithLink(secret: string, request: SignInRequest): Promise<SignInResult> {
    const { store, clock } = this.dependencies;
    const link = await useSignInLink(store.database, secret, clock.now());
    if (!link) return this.refuse({ reason: 'ended-link' }, request);
    const { user, resetsMethods, revokesTokens } = link;
    if (resetsMethods) {
      await this.bus.execute(createMethodsReset(user, (person) => createPersonContext(person, request.request)));
    }
    // After the reset, which ends the sessions that could create other tokens.
    if (revokesTokens) await this.revokeTokens(user, request);
    if (await requiresSecondFactor(store.database, user)) return this.requireCode(user, 'link');
    return this.start({ user, method: 'link', assurance: 'password' }, request);
  }

  async signInWithPasskey(answer: PasskeyAnswer, request: SignInRequest): Promise<SignInResult> {
    const { store, clock, ceremonies } = this.dependencies;
    // No attempt counts: nobody can guess a signature, and others at the address cannot delay the person.
    const passkey = await ceremonies.verifySignIn(answer);
    if (!passkey) return this.refuse({ reason: 'unknown-passkey' }, request);
    await store.database.rows(recordPasskeyUse(passkey.id, passkey.newCounter, clock.now()));
    return this.start({ user: passkey.user, method: 'passkey', assurance: 'two-factor' }, request);
  }

  /** Returns the sign-in that waits for its second factor; null if there is none, or if it is too old. */
  async findPending({ cookies }: SignInRequest): Promise<PendingSignIn | null> {
    const { store, tokens } = this.dependencies;
    const pending = tokens.read('second-factor', readCookie(cookies, SECOND_FACTOR_COOKIE), pendingContent);
    if (!pending || (await hasNewerPassword(store.database, pending.user, new Date(pending.at)))) return null;
    if (pending.proof && !(await this.isEnabled(pending.proof.provider))) return null;
    return (await requiresSecondFactor(store.database, pending.user)) ? pending : null;
  }

  /** Completes a sign-in with a one-time code or with a recovery code, which has more characters. */
  async completeWithCode(pending: PendingSignIn, code: string, request: SignInRequest): Promise<SignInResult> {
    const { store, clock, totpEnvelope } = this.dependencies;
    const { user, method, proof } = pending;
    const counters = this.listCounters({ user, counted: `code ${user}` }, request);
    await this.admit(counters, user, request);
    const isRecoveryCode = code.replaceAll(/[^A-Za-z0-9]/g, '').length > 6;
    const isRight = isRecoveryCode
      ? await useRecoveryCode(store.database, user, code)
      : await useTotpCode(store.database, totpEnvelope, user, { code, now: clock.now() });
    if (!isRight) {
      await this.recordFailure(user, isRecoveryCode ? 'recovery-code' : 'totp', request);
      return FAILED;
    }
    await this.forgive(counters);
    if (isRecoveryCode) {
      const command = { type: 'UseRecoveryCode' } as const;
      await this.record(user, (person) => ({ ...command, data: person }), request);
    }
    const assurance = method === 'oidc' ? 'oidc-two-factor' : 'two-factor';
    return this.start({ user, method, assurance, ...proof }, request);
  }

  /**
   * Counts a failed sign-in with an identity provider. Throws `too-many` if the address must wait. A successful sign-in
   * does not count: nobody can guess a signature, and others at the address cannot delay the person.
   */
  countFailedIdentity(request: SignInRequest): Promise<void> {
    return this.admit([countByAddress(request.request.address)], null, request);
  }

  /**
   * Throws `too-many` if the address must wait: for answers of providers whose check costs much. Counts nothing, and records
   * nothing: the attempts that led to the delay are in the log.
   */
  requireNoDelay({ request }: Pick<SignInRequest, 'request'>): Promise<void> {
    const { store, clock } = this.dependencies;
    return requireNoDelay(store.database, countByAddress(request.address), clock.now());
  }

  /** Signs in a person that an identity provider has identified, or asks for the person's one-time code. */
  async signInWithIdentity(
    { user, provesTwoFactor, ...stated }: ProvedIdentity,
    request: SignInRequest,
  ): Promise<SignInResult> {
    const { store, clock } = this.dependencies;
    const now = clock.now().toISOString();
    const { authenticatedAt } = stated;
    // The clock of the provider may be ahead.
    const proof = {
      ...stated,
      authenticatedAt: authenticatedAt !== null && authenticatedAt > now ? now : authenticatedAt,
    };
    if (!provesTwoFactor && (await requiresSecondFactor(store.database, user))) {
      return this.requireCode(user, 'oidc', proof);
    }
    const assurance = provesTwoFactor ? 'oidc-two-factor' : 'oidc';
    return this.start({ user, method: 'oidc', assurance, ...proof }, request);
  }

  /** Records that a provider has identified a person who may not sign in. Throws `too-many` if the address must wait. */
  async recordRefusedIdentity(user: string, request: SignInRequest): Promise<void> {
    await this.countFailedIdentity(request);
    return this.recordFailure(user, 'oidc', request);
  }

  /** Records a refused sign-in, except a wrong secret of an account: see `recordFailure`. */
  recordRefusal(refusal: RefusedSignIn, { request }: Pick<SignInRequest, 'request'>): Promise<void> {
    return this.dependencies.refusals.record(refusal, request);
  }

  /**
   * Links an account with an identity before the person has a session. No session ends. Throws `not-found` if the person
   * is suspended or does not exist any more.
   */
  linkIdentity(user: string, identity: LinkedIdentity, request: SignInRequest): Promise<void> {
    const command: MethodsChange['command'] = (person) => ({ type: 'LinkIdentity', data: { ...person, ...identity } });
    return this.record(user, command, request, true);
  }

  private async refuse(refusal: RefusedSignIn, request: Pick<SignInRequest, 'request'>): Promise<SignInResult> {
    await this.recordRefusal(refusal, request);
    return FAILED;
  }

  private async revokeTokens(user: string, { request }: SignInRequest): Promise<void> {
    const context = { ...createSystemContext('sign-in link', request.id ?? ''), request };
    await revokeTokensOf(this.dependencies.store, user, context);
  }

  private async isEnabled(provider: string): Promise<boolean> {
    return (await this.dependencies.options.listOptions()).some(({ id }) => id === provider);
  }

  private requireCode(user: string, method: PendingSignIn['method'], proof?: PendingSignIn['proof']): SignInResult {
    const { tokens, clock } = this.dependencies;
    const pending: PendingSignIn = { user, method, at: clock.now().toISOString(), ...(proof && { proof }) };
    const token = tokens.sign('second-factor', pending, SECOND_FACTOR_MS);
    return {
      outcome: 'needs-second-factor',
      cookies: [formatCookie(SECOND_FACTOR_COOKIE, token, SECOND_FACTOR_MS)],
    };
  }

  /** Starts a session with a new secret. A session that the browser had before ends. */
  private async start(signIn: SignIn, { request, actor, cookies }: SignInRequest): Promise<SignInResult> {
    const { store } = this.dependencies;
    const newBrowser = this.findDevice(signIn.user, cookies) === null;
    const session = await startSession(this.dependencies, { ...signIn, newBrowser }, (person) =>
      createPersonContext(person, request),
    );
    if (!session) return this.refuse({ reason: 'suspended', user: signIn.user }, { request });
    if (actor && actor.token !== null) {
      const context = createPersonContext({ id: actor.id, username: actor.name }, request);
      const old = { user: actor.id, where: sql`session.id = ${actor.token}`, reason: 'signed-out' } as const;
      await endSessions(store, old, context);
    }
    return {
      outcome: 'signed-in',
      cookies: [
        formatSessionCookie(session.secret, session.expiredAt),
        formatRemovedCookie(SECOND_FACTOR_COOKIE),
        formatCookie(DEVICE_COOKIE, this.signDevice(signIn.user, cookies), DEVICE_MS),
      ],
    };
  }

  private signDevice(user: string, cookies: string | undefined): string {
    const { tokens, ids } = this.dependencies;
    const device = this.findDevice(user, cookies) ?? ids.uuid();
    return tokens.sign('device', { user, device }, DEVICE_MS);
  }

  private findDevice(user: string, cookies: string | undefined): string | null {
    const content = this.dependencies.tokens.read('device', readCookie(cookies, DEVICE_COOKIE), deviceContent);
    return content?.user === user ? content.device : null;
  }

  /**
   * Returns the counters of an attempt. `counted`: the name or account that the attempt tries. A browser in which the person
   * has signed in before has only a counter of its own, so failures of others at the address cannot delay the person.
   */
  private listCounters(
    { user, counted }: { readonly user: string | undefined; readonly counted: string },
    request: SignInRequest,
  ): readonly AttemptCounter[] {
    const device = user === undefined ? null : this.findDevice(user, request.cookies);
    if (device !== null) return [{ kind: 'device', id: device }];
    return [countByAddress(request.request.address), { kind: 'account', id: counted }];
  }

  private async admit(counters: readonly AttemptCounter[], user: string | null, request: SignInRequest): Promise<void> {
    const { store, clock } = this.dependencies;
    try {
      await admitAttempt(store.database, counters, clock.now());
    } catch (error) {
      const isDelayed = error instanceof Refusal && error.kind === 'too-many';
      if (isDelayed) await this.recordRefusal({ reason: 'too-many-attempts', user }, request);
      throw error;
    }
  }

  private forgive(counters: readonly AttemptCounter[]): Promise<void> {
    return forgiveAttempts(this.dependencies.store.database, counters, this.dependencies.clock.now());
  }

  private recordFailure(user: string, method: FailedMethod, request: SignInRequest): Promise<void> {
    return this.record(user, (person) => ({ type: 'FailSignIn', data: { ...person, method } }), request);
  }

  private async record(
    user: string,
    command: MethodsChange['command'],
    { request }: SignInRequest,
    refusesSuspended = false,
  ): Promise<void> {
    const createContext = (person: { readonly id: string; readonly username: string }) =>
      createPersonContext(person, request);
    await this.bus.execute(new ChangeSignInMethods('RecordSignIn', { user, command, createContext, refusesSuspended }));
  }
}

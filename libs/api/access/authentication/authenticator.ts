import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock, Refusal } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { createAddressRefusal } from '../permissions/permissions.js';
import type { Identity } from '../callers/actor.js';
import { LocatedIdentity } from './located-identity.js';
import { TokenUsageRecorder } from './token-usage.recorder.js';
import { findIdentityByHash, findIdentityById, type IdentityOfToken } from './identity.queries.js';
import { AuthenticationFailureLog, type AuthenticationFailure } from './authentication-failures.log.js';
import { InvalidTokenLimiter } from './invalid-tokens.limiter.js';
import { requireOwnOrigin, type RequestOrigin } from './request-origin.js';

type CachedIdentity = IdentityOfToken & { readonly readAt: number; readonly located: LocatedIdentity };

const MAX_CACHED_IDENTITIES = 10_000;
// Statements check the epochs. The maximum age covers the case that a restored backup has reset them.
const MAX_AGE_MS = 60_000;

const isCurrent = ({ readAt, closesAt }: CachedIdentity, now: number): boolean =>
  now - readAt < MAX_AGE_MS && (closesAt === null || now < Date.parse(closesAt));

export const SESSION_RULES = 'cadastre:session-rules';

export type SessionRules = {
  /** Milliseconds without a request after which a session ends. */
  readonly idleMs: number;
  /** The origin of the site: pages of other origins cannot change anything with a person's session. */
  readonly siteOrigin: string;
};

const isExpired = ({ expiredAt }: Identity, now: Date): boolean =>
  expiredAt !== null && Date.parse(expiredAt) <= now.getTime();

/**
 * Returns the SHA-256 of a secret. A slow hash is not needed, because secrets have 350 random bits and cannot be
 * guessed.
 */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const createInvalidTokenRefusal = (): Refusal =>
  new Refusal('unauthorized', [{ detail: 'Unauthorized: missing or invalid token' }]);

/**
 * Identifies callers by their credentials: bearer tokens, and sessions (credentials.ts). It caches identities, and the next statement of the request checks them.
 */
@Injectable()
export class Authenticator {
  private readonly identities = new LRUCache<string, CachedIdentity>({ max: MAX_CACHED_IDENTITIES });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly uses: TokenUsageRecorder,
    private readonly wrongTokens: InvalidTokenLimiter,
    private readonly refused: AuthenticationFailureLog,
    @Inject(SESSION_RULES) private readonly sessions: SessionRules,
  ) {}

  /**
   * Returns the identity of the credential. Throws `unauthorized` if it is missing, unknown, revoked or expired, and
   * `too-many` for an unknown one from an address that has sent too many wrong ones. Throws `forbidden` if the
   * organization of a credential that belongs to one organization refuses the address. `isUse`: whether the request
   * counts as a use of the credential.
   */
  async identify(secret: string | undefined, address: string, isUse = true): Promise<Identity> {
    if (!secret) throw this.refusalFor('missing', address);
    const now = this.clock.now();
    const cached = this.findCurrent(secret, now);
    // Statements check a cached identity, but none follows a refusal.
    const current = cached?.located.at(address) ? cached : await this.read(secret, address);
    if (isExpired(current.identity, now)) throw this.refusalFor('expired', address);
    const identity = current.located.at(address);
    if (!identity) throw createAddressRefusal(address);
    if (isUse) this.uses.note(current.identity.token, now);
    return identity;
  }

  /**
   * Returns the identity of a session that the person used a moment ago, so its idle time does not count. Returns null if
   * the session has ended or its person is suspended. Reads it from the database.
   */
  async findSessionIdentity(session: string): Promise<Identity | null> {
    const now = this.clock.now();
    const row = await findIdentityById(this.database, session, { now, idleSince: new Date(0) });
    return row?.identity.credential === 'session' && !isExpired(row.identity, now) ? row.identity : null;
  }

  /**
   * Returns the present identity of a credential that was identified before, for a response that lasts longer than its
   * request. Returns null if the credential no longer counts, or not at this address. Records neither a use nor a wrong
   * token.
   */
  async identifyAgain(secret: string, address: string): Promise<Identity | null> {
    const now = this.clock.now();
    const { identity, located } = this.findCurrent(secret, now) ?? (await this.load(secret, hashSecret(secret))) ?? {};
    return identity === undefined || isExpired(identity, now) ? null : (located?.at(address) ?? null);
  }

  /**
   * Returns the identity of a token that this process has cached. Returns null for any other token, and for an address
   * that the token's organization refuses: `identify` reads or refuses these. It is the same object until the identity
   * is read again, for all addresses that the same organizations refuse.
   */
  findCachedIdentity(secret: string, address: string): Identity | null {
    const now = this.clock.now();
    const cached = this.findCurrent(secret, now);
    if (!cached || isExpired(cached.identity, now)) return null;
    const identity = cached.located.at(address);
    if (identity) this.uses.note(cached.identity.token, now);
    return identity;
  }

  /** Refuses a change that another site made the browser send. `needsHeader`: see `requireOwnOrigin`. */
  requireOwnOrigin(request: RequestOrigin, options: { readonly needsHeader: boolean }): void {
    requireOwnOrigin(request, this.sessions.siteOrigin, options);
  }

  /** Makes the next request read the token's identity again, because access has changed. */
  forget(secret: string): void {
    const cached = this.identities.get(secret);
    // The token remains in the cache, so that limits for unknown tokens do not apply to it.
    if (cached) this.identities.set(secret, { ...cached, readAt: Number.NEGATIVE_INFINITY });
  }

  /** Returns the id of a token that was valid at the last lookup of this process; undefined for any other text. */
  getCachedTokenId(secret: string): string | undefined {
    return this.identities.get(secret)?.identity.token;
  }

  private findCurrent(secret: string, now: Date): CachedIdentity | null {
    const cached = this.identities.get(secret);
    return cached && isCurrent(cached, now.getTime()) ? cached : null;
  }

  private async read(secret: string, address: string): Promise<CachedIdentity> {
    const hash = hashSecret(secret);
    const isUnknown = !this.identities.has(secret);
    if (isUnknown && this.wrongTokens.admit(hash, address) === 'wrong') throw this.refusalFor('unknown', address);
    const identity = await this.load(secret, hash);
    if (identity) return identity;
    this.wrongTokens.record(hash, address);
    throw this.refusalFor('unknown', address);
  }

  /** Reads the identity of a credential into the cache. */
  private async load(secret: string, hash: Buffer): Promise<CachedIdentity | null> {
    const now = this.clock.now();
    const idleSince = new Date(now.getTime() - this.sessions.idleMs);
    const identity = await findIdentityByHash(this.database, hash, { now, idleSince });
    if (!identity) {
      this.identities.delete(secret);
      return null;
    }
    const cached = { ...identity, readAt: now.getTime(), located: new LocatedIdentity(identity) };
    this.identities.set(secret, cached);
    return cached;
  }

  private refusalFor(reason: AuthenticationFailure, address: string): Refusal {
    this.refused.record(reason, address);
    return createInvalidTokenRefusal();
  }
}

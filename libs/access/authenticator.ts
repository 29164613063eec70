import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Refused } from '#kernel';
import { Database } from '#event-store';
import type { Identity } from './actor.js';
import { TokenUses } from './authentication-tokens.uses.js';
import { identityByHash } from './identity.queries.js';

type Known = { readonly identity: Identity; readonly token: string; readonly readAt: number };

const REMEMBERED = 10_000;
// Statements check the epoch; the age is for the case that a restored backup has set the epoch back.
const MAX_AGE_MS = 60_000;

/** SHA-256 is enough for secrets of 350 random bits: there is nothing to guess, so nothing to slow down. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const refuseToken = (): Refused => new Refused('unauthorized', [{ detail: 'Unauthorized: missing or invalid token' }]);

/** Tells who a bearer token speaks for. What it knows is remembered, and checked by the statements that follow. */
@Injectable()
export class Authenticator {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly uses: TokenUses,
  ) {}

  /** Throws `unauthorized` for a token that is missing, unknown, revoked or expired. */
  async identify(secret: string | undefined): Promise<Identity> {
    if (!secret) throw refuseToken();
    const now = this.clock.now();
    const remembered = this.known.get(secret);
    const isYoung = remembered && now.getTime() - remembered.readAt < MAX_AGE_MS;
    const { identity, token } = isYoung ? remembered : await this.read(secret);
    if (identity.expiredAt !== null && Date.parse(identity.expiredAt) <= now.getTime()) {
      throw refuseToken();
    }
    this.uses.note(token, now);
    return identity;
  }

  /** Forgets what it knows of a token, because access has changed since. */
  forget(secret: string): void {
    this.known.delete(secret);
  }

  private async read(secret: string): Promise<Known> {
    const found = await identityByHash(this.database, hashOf(secret));
    if (!found) throw refuseToken();
    const known = { ...found, readAt: this.clock.now().getTime() };
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= REMEMBERED) this.known.delete(oldest);
    this.known.set(secret, known);
    return known;
  }
}

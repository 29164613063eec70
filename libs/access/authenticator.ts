import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Refused, sql } from '#kernel';
import { Database } from '#event-store';
import { standingsOf, type Identity, type Standing, type TeamRow } from './actor.js';
import type { TokenKind } from './authentication-token.js';

type IdentityRow = {
  readonly kind: TokenKind;
  readonly owner: string;
  readonly name: string;
  readonly siteAdmin: boolean | null;
  readonly organization: string | null;
  readonly expiredAt: string | null;
  readonly epoch: number;
  readonly teams: readonly TeamRow[];
};

const REMEMBERED = 10_000;
// Statements check the epoch; the age is for the case that a restored backup has set the epoch back.
const MAX_AGE_MS = 60_000;

/** SHA-256 is enough for secrets of 350 random bits: there is nothing to guess, so nothing to slow down. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const refuseToken = (): Refused => new Refused('unauthorized', [{ detail: 'Unauthorized: missing or invalid token' }]);

/** The statement that finds out who a token speaks for, in one row. */
const identityRow = (hash: Buffer) => sql`
  select t.kind, t.owner, t.organization, t.expired_at as "expiredAt", u.site_admin as "siteAdmin",
         coalesce(u.username, team.name, o.name) as name,
         coalesce((select epoch from access_epoch where id = 1), 0) as epoch,
         coalesce((select jsonb_agg(jsonb_build_object('id', m.id, 'organization', m.organization, 'name', m.name,
                                                       'access', m.organization_access))
                     from teams m
                    where m.id = t.owner
                       or m.id in (select team from team_members where user_id = t.owner)), '[]') as teams
    from access.token_hashes h
    join authentication_tokens t on t.id = h.token
    left join users u on t.kind = 'user' and u.id = t.owner
    left join teams team on t.kind = 'team' and team.id = t.owner
    left join organizations o on t.kind in ('organization', 'audit-trails') and o.id = t.owner
   where h.hash = ${hash}`;

/** Tells who a bearer token speaks for. What it knows is remembered, and checked by the statements that follow. */
@Injectable()
export class Authenticator {
  private readonly known = new Map<string, { readonly identity: Identity; readonly readAt: number }>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Throws `unauthorized` for a token that is missing, unknown, revoked or expired. */
  async identify(secret: string | undefined): Promise<Identity> {
    if (!secret) throw refuseToken();
    const now = this.clock.now().getTime();
    const known = this.known.get(secret);
    const identity = known && now - known.readAt < MAX_AGE_MS ? known.identity : await this.read(secret);
    if (identity.expiredAt !== null && Date.parse(identity.expiredAt) <= now) {
      throw refuseToken();
    }
    return identity;
  }

  /** Forgets what it knows of a token, because access has changed since. */
  forget(secret: string): void {
    this.known.delete(secret);
  }

  private async read(secret: string): Promise<Identity> {
    const row = await this.database.row<IdentityRow>(identityRow(hashOf(secret)));
    if (!row) throw refuseToken();
    const identity = identityOf(row);
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= REMEMBERED) this.known.delete(oldest);
    this.known.set(secret, { identity, readAt: this.clock.now().getTime() });
    return identity;
  }
}

const identityOf = (row: IdentityRow): Identity => ({
  kind: row.kind,
  id: row.owner,
  name: row.name,
  siteAdmin: row.siteAdmin ?? false,
  teams: row.teams.map((team) => team.id),
  standings: standings(row),
  expiredAt: row.expiredAt,
  epoch: row.epoch,
});

const standings = (row: IdentityRow): ReadonlyMap<string, ReadonlySet<Standing>> => {
  if (row.organization === null || row.kind === 'team') return standingsOf(row.teams);
  const standing: Standing = row.kind === 'organization' ? 'organization-token' : 'audit-token';
  return new Map([[row.organization, new Set([standing])]]);
};

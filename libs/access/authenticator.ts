import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Refused, sql } from '#kernel';
import { Database } from '#event-store';
import { standingsOf, type Identity, type Standing, type TeamRow } from './actor.js';
import type { TokenKind } from './authentication-token.js';
import { TokenUses } from './authentication-tokens.uses.js';

type IdentityRow = {
  readonly token: string;
  readonly kind: TokenKind;
  readonly owner: string;
  readonly name: string;
  readonly siteAdmin: boolean | null;
  readonly organization: string | null;
  readonly expiredAt: string | null;
  readonly epoch: number;
  readonly teams: readonly TeamRow[];
  readonly memberOf: readonly string[];
  readonly closedTo: readonly string[];
};

type Known = { readonly identity: Identity; readonly token: string; readonly readAt: number };

const REMEMBERED = 10_000;
// Statements check the epoch; the age is for the case that a restored backup has set the epoch back.
const MAX_AGE_MS = 60_000;

/** SHA-256 is enough for secrets of 350 random bits: there is nothing to guess, so nothing to slow down. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const refuseToken = (): Refused => new Refused('unauthorized', [{ detail: 'Unauthorized: missing or invalid token' }]);

/**
 * The statement that finds out who a token speaks for, in one row. Invited people are in their teams already, which is
 * worth nothing until they accept.
 */
const identityRow = (hash: Buffer) => sql`
  select t.id as token, t.kind, t.owner, t.organization, t.expired_at as "expiredAt", u.site_admin as "siteAdmin",
         coalesce(u.username, team.name, o.name, t.description, t.owner) as name,
         coalesce((select epoch from access_epoch where id = 1), 0) as epoch,
         coalesce((select jsonb_agg(jsonb_build_object('id', m.id, 'organization', m.organization,
                                                       'access', m.organization_access, 'owners', mo.owners_team = m.id))
                     from teams m join organizations mo on mo.id = m.organization
                    where m.id = t.owner
                       or m.id in (select team from team_members where user_id = t.owner)
                          and not exists (select 1 from organization_memberships invited
                                           where invited.user_id = t.owner and invited.organization = m.organization
                                             and invited.status = 'invited')), '[]') as teams,
         array(select organization from organization_memberships
                where user_id = t.owner and status = 'active') as "memberOf",
         array(select closed.id from organizations closed
                where t.kind = 'user' and not (closed.settings ->> 'userTokensEnabled')::boolean
                  and closed.id in (select organization from organization_memberships where user_id = t.owner
                                    union
                                    select organization from teams x join team_members on team = x.id
                                     where user_id = t.owner)) as "closedTo"
    from access.token_hashes h
    join authentication_tokens t on t.id = h.token
    left join users u on t.kind = 'user' and u.id = t.owner
    left join teams team on t.kind = 'team' and team.id = t.owner
    left join organizations o on t.kind in ('organization', 'audit-trails') and o.id = t.owner
   where h.hash = ${hash}`;

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
    const row = await this.database.row<IdentityRow>(identityRow(hashOf(secret)));
    if (!row) throw refuseToken();
    const known = { identity: identityOf(row), token: row.token, readAt: this.clock.now().getTime() };
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= REMEMBERED) this.known.delete(oldest);
    this.known.set(secret, known);
    return known;
  }
}

const identityOf = (row: IdentityRow): Identity => ({
  kind: row.kind,
  id: row.owner,
  name: row.name,
  siteAdmin: row.siteAdmin ?? false,
  teams: teamsOf(row),
  standings: standings(row),
  expiredAt: row.expiredAt,
  epoch: row.epoch,
});

const BY_KIND = { organization: 'organization-token', 'audit-trails': 'audit-token', agent: 'agent' } as const;

const standings = (row: IdentityRow): ReadonlyMap<string, ReadonlySet<Standing>> => {
  if (row.kind === 'user' || row.kind === 'team') {
    const all = standingsOf(row.teams, row.memberOf);
    // An organization can close itself to tokens of users; its owners have no other way in than theirs.
    for (const closed of row.closedTo) if (!all.get(closed)?.has('owner')) all.delete(closed);
    return all;
  }
  return new Map(row.organization === null ? [] : [[row.organization, new Set([BY_KIND[row.kind]])]]);
};

/** Grants are asked for by team: where an organization is closed to the caller, its teams must not count either. */
const teamsOf = ({ teams, closedTo }: IdentityRow): string[] =>
  teams.filter(({ organization, owners }) => owners || !closedTo.includes(organization)).map(({ id }) => id);

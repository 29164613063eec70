import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { UNRESTRICTED, type TokenAccess } from '../callers/token-restriction.js';
import { selectAllowedRanges } from './allowed-ranges.queries.js';
import {
  computeRoles,
  type Assurance,
  type ClosingReason,
  type Identity,
  type Role,
  type TeamRow,
  type TokenKind,
} from '../callers/actor.js';
import {
  MAX_SUMMED_SUBJECTS,
  selectAddressesSubject,
  selectMembersSubject,
} from '../permissions/access-epochs.queries.js';

/** The address ranges from which an organization accepts requests of the caller. */
export type IpAllowlistRule = { readonly organization: string; readonly ranges: readonly string[] };

type IdentityRow = {
  readonly token: string | null;
  readonly kind: TokenKind;
  readonly credential: Identity['credential'];
  readonly assurance: Assurance | null;
  readonly provedAt: Timestamp | null;
  readonly owner: string;
  readonly name: string;
  readonly siteAdmin: boolean | null;
  readonly organization: string | null;
  readonly expiredAt: string | null;
  readonly subjects: string;
  readonly epoch: number;
  readonly snapshot: string | null;
  readonly teams: readonly TeamRow[];
  readonly memberOf: readonly string[];
  readonly closedTo: readonly string[];
  readonly allowlists: readonly IpAllowlistRule[];
  readonly closesAt: Timestamp | null;
  readonly access: TokenAccess;
  readonly onlyOrganization: string | null;
};

/**
 * The time at which an organization `o` closes to the credential `t` of a user: when a token exceeds the organization's
 * maximum age, or a session its `session-remember`. Null without a maximum.
 */
const CLOSES_AT = sql.raw(`case
  when t.credential = 'session' then t.created_at + (o.settings ->> 'sessionRemember')::integer * interval '1 minute'
  when (o.settings ->> 'maxTtlEnabled')::boolean then
    t.created_at + (o.token_ttl_policies -> 'user' ->> 'maxTtlMs')::bigint * interval '1 millisecond' end`);

/**
 * Whether an organization `o` accepts the kind of credential `t`, and the way in which the person signed in. Tokens
 * without an assurance were created by an operator or by an earlier version.
 */
const ACCEPTS = sql.raw(`(t.credential = 'session' or (o.settings ->> 'userTokensEnabled')::boolean)
  and (t.assurance is null or case o.settings ->> 'collaboratorAuthPolicy'
         when 'two_factor_mandatory' then t.assurance in ('two-factor', 'oidc-two-factor')
         when 'sso_mandatory' then t.assurance in ('oidc', 'oidc-two-factor')
         else true end)`);

/**
 * The columns of a credential that `selectIdentity` needs, from each of the two views. `pool`: the agent pool of an
 * agent, or of the agent that requested the token of its run.
 */
const TOKEN_COLUMNS = sql.raw(
  `id, kind, 'token' as credential, assurance, null::timestamptz as proved_at, owner, organization, description, created_at,
  expired_at, case kind when 'agent' then owner when 'run' then created_by end as pool, access, only_organization`,
);
const SESSION_COLUMNS = sql.raw(`id, 'user' as kind, 'session' as credential, assurance,
  case when method = 'oidc' then authenticated_at else created_at end as proved_at, user_id as owner,
  null as organization, null as description, created_at, expired_at, null as pool,
  'full' as access, null as only_organization`);

const ALLOWED_RANGES = selectAllowedRanges({
  organization: sql.raw('reached.organization'),
  isAgent: sql.raw(`t.kind in ('agent', 'run')`),
  pool: sql.raw('t.pool'),
});

/** Joins the organizations that the caller belongs to, also as an invited person, and the ranges of their IP allowlists. */
const SELECT_ALLOWLISTS = sql`cross join lateral (
      select memberships.known || teams.organizations || array_remove(array[t.organization], null) as organizations) reach
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('organization', restricted.organization, 'ranges', restricted.ranges))
                        filter (where restricted.ranges is not null), '[]') as lists
        from (select reached.organization, ${ALLOWED_RANGES} as ranges
                from (select distinct organization from ip_allowlists
                       where organization = any (reach.organizations)) reached) restricted) allowed`;

/** Joins the subjects of the epochs. */
const SELECT_SUBJECTS = sql`cross join lateral (
      select array(select t.owner where t.kind in ('user', 'organization', 'audit-trails')
                   union select unnest(teams.ids)
                   union select ${selectMembersSubject(sql`organization`)}
                           from unnest(memberships.organizations || teams.organizations) as organization
                          where t.kind = 'user'
                   union select ${selectAddressesSubject(sql`organization`)}
                           from unnest(reach.organizations) as organization
                          where t.kind <> 'user' or organization <> all (memberships.organizations || teams.organizations)
                  ) as on_subjects) depends`;

/**
 * Selects an identity in one row, in the same snapshot as the epochs of its subjects. `t` has the columns of a token.
 * Invited users are already in their teams, but get no roles until they accept. Suspended users have no tokens; this
 * also gives them no roles, for links that they signed before.
 *
 * `now` is the time for the age of the token.
 *
 * Each table that this statement reads needs an event that raises the epoch of its subject
 * (libs/identity/people/users/access-epochs.projection.ts).
 */
const selectIdentity = (t: Sql, now: Date): Sql => sql`
  select t.id as token, t.kind, t.credential, t.assurance, t.proved_at as "provedAt", t.owner, t.organization, t.expired_at as "expiredAt",
         t.access, t.only_organization as "onlyOrganization",
         u.site_admin and not u.suspended as "siteAdmin",
         coalesce(u.username, team.name, o.name, t.description, t.owner) as name,
         depends.on_subjects::text as subjects,
         (select coalesce(sum(epoch), 0)::bigint from access.epochs where subject = any (depends.on_subjects)) as epoch,
         case when cardinality(depends.on_subjects) > ${MAX_SUMMED_SUBJECTS} then pg_current_snapshot()::text end as snapshot,
         teams.list as teams, memberships.organizations as "memberOf",
         closing.organizations as "closedTo", closing.next as "closesAt", allowed.lists as allowlists
    from (${t}) t
    left join users u on t.kind = 'user' and u.id = t.owner
    left join teams team on t.kind = 'team' and team.id = t.owner
    left join organizations o on t.kind in ('organization', 'audit-trails') and o.id = t.owner
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'organization', m.organization,
                                                   'access', m.organization_access, 'owners', mo.owners_team = m.id)),
                      '[]') as list,
             coalesce(array_agg(m.id), '{}') as ids, coalesce(array_agg(m.organization), '{}') as organizations
        from teams m join organizations mo on mo.id = m.organization
       where m.id = t.owner
          or u.suspended is not true and m.id in (select team from team_members where user_id = t.owner)
             and not exists (select 1 from organization_memberships invited
                              where invited.user_id = t.owner and invited.organization = m.organization
                                and invited.status = 'invited')) teams
    cross join lateral (
      select array(select organization from organization_memberships
                    where user_id = t.owner and status = 'active' and u.suspended is not true) as organizations,
             array(select organization from organization_memberships where user_id = t.owner) as known) memberships
    ${SELECT_ALLOWLISTS}
    cross join lateral (
      select coalesce(array_agg(id) filter (where not accepts or at <= ${now}), '{}') as organizations,
             min(at) filter (where at > ${now}) as next
        from (select o.id, ${ACCEPTS} as accepts, ${CLOSES_AT} as at
                from organizations o
               where t.kind = 'user' and o.id = any (memberships.organizations || teams.organizations)) o) closing
    ${SELECT_SUBJECTS}`;

/** An identity, and what closes organizations to it without an event: time, and the address of a request. */
export type IdentityOfToken = {
  readonly identity: Identity & { readonly token: string };
  /** The next time at which an organization closes to the token. */
  readonly closesAt: Timestamp | null;
  readonly allowlists: readonly IpAllowlistRule[];
  /** Returns the identity at an address that these organizations refuse. */
  readonly refuseIn: (organizations: readonly string[]) => Identity;
};

type IdentityTimes = { readonly now: Date; readonly idleSince: Date };

/**
 * Returns the identity of the token or session with this hash at this time, or null. A session counts only if it was
 * used after `idleSince`.
 */
export const findIdentityByHash = (
  database: Database,
  hash: Buffer,
  times: IdentityTimes,
): Promise<IdentityOfToken | null> => findIdentity(database, sql`h.hash = ${hash}`, times);

/** Returns the identity of the token or session with this id at this time, or null. */
export const findIdentityById = (
  database: Database,
  id: string,
  times: IdentityTimes,
): Promise<IdentityOfToken | null> => findIdentity(database, sql`h.token = ${id}`, times);

const findIdentity = async (
  database: Database,
  where: Sql,
  { now, idleSince }: IdentityTimes,
): Promise<IdentityOfToken | null> => {
  const row = await database.row<IdentityRow & { readonly token: string }>(
    selectIdentity(
      sql`select t.* from access.token_hashes h
            cross join lateral (
              select ${TOKEN_COLUMNS} from authentication_tokens where id = h.token
              union all
              select ${SESSION_COLUMNS} from sessions s where id = h.token
                 and coalesce((select used_at from access.token_uses where token = s.id), created_at) > ${idleSince}) t
           where ${where} and not exists (select 1 from users where id = t.owner and suspended)`,
      now,
    ),
  );
  if (!row) return null;
  const identity = { ...toIdentity(row), token: row.token };
  return {
    identity,
    closesAt: row.closesAt,
    // Site administrators manage the lists of all organizations.
    allowlists: identity.siteAdmin ? [] : row.allowlists,
    refuseIn: (organizations) => toIdentity(row, organizations),
  };
};

/**
 * Returns the present identity of a user or a team without a request: the one that started what a signed link finishes.
 */
export const findCurrentIdentity = async (
  database: Database,
  { type, id }: { readonly type: string; readonly id: string },
): Promise<Identity> => {
  const kind: TokenKind = type === 'teams' ? 'team' : 'user';
  const row = await database.row<IdentityRow>(
    selectIdentity(
      // Without a token there is no age to check.
      sql`select null::text as id, ${kind}::text as kind, 'token' as credential, null::text as assurance,
                 null::timestamptz as proved_at, ${id}::text as owner, null::text as organization, null::text as description,
                 null::timestamptz as expired_at, null::timestamptz as created_at, null::text as pool,
                 ${UNRESTRICTED.access}::text as access, null::text as only_organization`,
      new Date(0),
    ),
  );
  // The statement always returns a row, even if the user or team no longer exists.
  return toIdentity(row as IdentityRow);
};

/** `refusing`: organizations whose IP allowlists refuse the address of the request. */
const toIdentity = (row: IdentityRow, refusing: readonly string[] = []): Identity => {
  const restriction = { access: row.access, organization: row.onlyOrganization };
  // A token for one organization has no power over the site.
  const siteAdmin = row.siteAdmin === true && restriction.organization === null;
  const isInScope = (organization: string): boolean =>
    restriction.organization === null || restriction.organization === organization;
  const closed = new Set([...row.closedTo, ...refusing]);
  const isOpen = (organization: string): boolean => isInScope(organization) && !closed.has(organization);
  return {
    kind: row.kind,
    // Events name the SCIM token, because its owner is the site.
    id: row.kind === 'scim' && row.token !== null ? row.token : row.owner,
    name: row.name,
    siteAdmin,
    credential: row.credential,
    assurance: row.assurance,
    provedAt: row.provedAt,
    // If an organization is closed to the caller, its teams do not count.
    teams: row.teams.filter(({ organization }) => isOpen(organization)).map(({ id }) => id),
    // The token of the owners team or a site admin can open the organization again.
    rolesByOrganization: computeRolesByOrganization(row, isOpen),
    closedTo: siteAdmin ? new Map() : mapClosedOrganizations(row, refusing, isInScope),
    restriction,
    expiredAt: row.expiredAt,
    token: row.token,
    subjects: row.subjects,
    epoch: row.epoch,
    snapshot: row.snapshot,
  };
};

const mapClosedOrganizations = (
  { closedTo }: IdentityRow,
  refusing: readonly string[],
  isInScope: (organization: string) => boolean,
): ReadonlyMap<string, ClosingReason> =>
  new Map<string, ClosingReason>([
    ...closedTo.filter(isInScope).map((organization) => [organization, 'credential'] as const),
    ...refusing.filter(isInScope).map((organization) => [organization, 'address'] as const),
  ]);

const BY_KIND = {
  organization: 'organization-token',
  'audit-trails': 'audit-token',
  agent: 'agent',
  run: 'run',
} as const;

const computeRolesByOrganization = (
  row: IdentityRow,
  isOpen: (organization: string) => boolean,
): ReadonlyMap<string, ReadonlySet<Role>> => {
  if (row.kind === 'scim') return new Map();
  if (row.kind === 'user' || row.kind === 'team') {
    return computeRoles(
      row.teams.filter(({ organization }) => isOpen(organization)),
      row.memberOf.filter(isOpen),
    );
  }
  return new Map(row.organization === null ? [] : [[row.organization, new Set([BY_KIND[row.kind]])]]);
};

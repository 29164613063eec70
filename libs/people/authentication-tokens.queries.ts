import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import { limitOf, listedIn, type Listed, type Order, type Page } from '#json-api';
import {
  demand,
  fresh,
  organizationFor,
  organizationsWhere,
  permittedPlaces,
  type Actor,
  type Permission,
  type TokenKind,
} from '#access';
import { demandChangeTeam, type TeamPlace } from './team-permission.js';
import { isSeenTeam, teamPlaceOf } from './teams.queries.js';

export type TokenRow = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly owner: string;
  readonly description: string | null;
  readonly createdByType: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Timestamp;
  readonly lastUsedAt: Timestamp | null;
  readonly expiredAt: Timestamp | null;
};

/** Whose tokens are asked about: by id, but organizations by their names. Those of runs, libs/runs makes. */
export type TokenOwner = { readonly kind: Exclude<TokenKind, 'run'>; readonly key: string };

/** Where an owner's tokens belong, for the permission table. */
type TokenPlace = {
  readonly kind: TokenKind;
  /** `user-…`, `team-…`, `org-…`, `apool-…` or `run-…`. */
  readonly owner: string;
  readonly organization: string | null;
  readonly team: TeamPlace | null;
  /** Of an agent pool: whether it executes the organization's runs in `remote` mode. */
  readonly remoteRunsEnabled: boolean;
};

const PERMISSION = {
  user: 'manage-user-tokens',
  organization: 'manage-organization-tokens',
  'audit-trails': 'manage-organization-tokens',
  agent: 'manage-agent-tokens',
  run: 'manage-agent-tokens',
} as const satisfies Record<Exclude<TokenKind, 'team'>, Permission>;

/** Throws the refusal for who may not manage these tokens; who may not, may not see them either. */
const demandTokens = (actor: Actor, place: TokenPlace): void => {
  const { kind, owner, organization, team } = place;
  if (kind !== 'team') {
    demand(actor, PERMISSION[kind], { organization, ...(kind === 'user' ? { user: owner } : {}) });
    if (kind === 'agent' && place.remoteRunsEnabled) demand(actor, 'manage-remote-agent-pools', { organization });
  } else {
    if (!team) throw notFound();
    demandChangeTeam(actor, 'manage-team-tokens', team);
  }
};

/** A row of TokenPlace, or none. */
const placeOf = ({ kind, key }: TokenOwner, actor: Actor): Sql => {
  const isKind = sql`${kind}::text as kind`;
  switch (kind) {
    case 'user':
      return sql`select ${isKind}, id as owner, null::text as organization, null::jsonb as team, false as "remoteRunsEnabled"
                   from users where id = ${key}`;
    case 'team':
      return sql`select ${isKind}, id as owner, organization, ${teamPlaceOf(actor, sql.raw('teams.id'))} as team,
                   false as "remoteRunsEnabled"
                   from teams where id = ${key}`;
    case 'organization':
    case 'audit-trails':
      return sql`select ${isKind}, id as owner, id as organization, null::jsonb as team, false as "remoteRunsEnabled"
                   from organizations where name = ${key}`;
    case 'agent':
      return sql`select ${isKind}, id as owner, organization, null::jsonb as team,
                   remote_runs_enabled as "remoteRunsEnabled"
                   from agent_pools where id = ${key}`;
  }
};

/**
 * The same, empty if the caller may certainly not manage the tokens: a table expression. Which teams a caller may change
 * takes more than one permission, so that `demandTokens` decides that.
 */
const seenPlace = (owner: TokenOwner, actor: Actor): Sql => {
  const place = sql`select * from (${placeOf(owner, actor)}) place where ${fresh(actor)}`;
  if (owner.kind === 'user') return sql`(${place})`;
  return permittedPlaces(actor, owner.kind === 'team' ? 'read-teams' : PERMISSION[owner.kind], place);
};

// Organizations are known by their names outside (clients.md §3).
const TOKEN = sql.raw(`token.id, token.kind, token.owner, token.description, token.created_by_type as "createdByType",
  coalesce((select name from organizations where id = token.created_by), token.created_by) as "createdBy",
  token.created_at as "createdAt", token.expired_at as "expiredAt",
  (select used_at from access.token_uses uses where uses.token = token.id) as "lastUsedAt"`);

/** Teams and organizations have one token of a kind that takes the place of the one before: without a name, in teams. */
const IS_ONLY = sql.raw(`(token.kind <> 'team' or token.description is null)`);

export const tokenById = (id: string): Sql =>
  sql`select ${TOKEN} from authentication_tokens token where token.id = ${id}`;

/** One page of an owner's tokens, newest first, and the count of all, in one statement. */
export const listTokens = async (
  database: Database,
  actor: Actor,
  owner: TokenOwner,
  page: Page,
): Promise<Listed<TokenRow>> => {
  const ofOwner = sql.raw('token.owner = place.owner and token.kind = place.kind');
  const found = await database.slowRows<TokenRow & { place: TokenPlace; total: number }>(
    actor,
    sql`
    select to_jsonb(place) as place, page.*,
           (select count(*) from authentication_tokens token where ${ofOwner}) as total
      from ${seenPlace(owner, actor)} place
      left join lateral (select ${TOKEN} from authentication_tokens token where ${ofOwner}
                          order by token.created_at desc, token.id ${limitOf(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demandTokens(actor, first.place);
  return listedIn(found);
};

export type TokenForCommand = TokenRow & { readonly organization: string | null; readonly snapshot: Snapshot };

/** A token by its id, or the only one of an owner, where the caller manages it. */
export const tokenFor = async (
  database: Database,
  actor: Actor,
  target: string | TokenOwner,
): Promise<TokenForCommand> => {
  const isTarget =
    typeof target === 'string'
      ? sql`token.id = ${target}`
      : sql`token.kind = ${target.kind} and ${IS_ONLY}
            and token.owner = (select owner from (${placeOf(target, actor)}) place)`;
  const row = await database.row<TokenForCommand & TokenPlace>(sql`
    select ${TOKEN}, token.organization, ${teamPlaceOf(actor, sql.raw('token.owner'))} as team,
           exists (select 1 from agent_pools where id = token.owner and remote_runs_enabled) as "remoteRunsEnabled",
           ${snapshotOf('s')} as snapshot
      from authentication_tokens token join event_store.streams s on s.stream = token.id
     where ${isTarget} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demandTokens(actor, row);
  return row;
};

/** Where a new token would belong. */
export type PlaceForToken = TokenPlace & {
  /** What must be there still when the token is: its owner, and the organization. */
  readonly held: readonly Held[];
  /** What it takes the place of. */
  readonly replaced: readonly { readonly id: string; readonly snapshot: Snapshot }[];
  /** Tokens of the owner, those that it replaces included; expired ones too. */
  readonly existing: number;
  /** The longest life that the organization allows such a token, in milliseconds; null if it sets no limit. */
  readonly maxTtlMs: number | null;
};

export const placeForToken = async (
  database: Database,
  actor: Actor,
  owner: TokenOwner,
  replaces: boolean,
): Promise<PlaceForToken> => {
  const row = await database.row<PlaceForToken>(sql`
    select place.*,
           ${heldStreams(sql.raw('array[place.owner, place.organization]'))} as held,
           (select count(*) from authentication_tokens token where token.owner = place.owner) as existing,
           (select (o.token_ttl_policies -> replace(place.kind, '-', '_') ->> 'maxTtlMs')::bigint from organizations o
             where o.id = place.organization and (o.settings ->> 'maxTtlEnabled')::boolean) as "maxTtlMs",
           coalesce((select jsonb_agg(jsonb_build_object('id', token.id, 'snapshot', ${snapshotOf('s')}))
                       from authentication_tokens token join event_store.streams s on s.stream = token.id
                      where ${replaces} and token.owner = place.owner and token.kind = place.kind and ${IS_ONLY}),
                    '[]') as replaced
      from (${placeOf(owner, actor)}) place where ${fresh(actor)}`);
  if (!row) throw notFound();
  demandTokens(actor, row);
  return row;
};

export const TEAM_TOKEN_SORTS = ['expired-at', 'team-name', 'created-by', 'last-used-at'] as const;
type TeamTokenSort = (typeof TEAM_TOKEN_SORTS)[number];

/** Tokens that never expire, or were never used, come last whichever way it goes. */
const ORDER = {
  'team-name': sql.raw('team_name'),
  'created-by': sql.raw('"createdBy"'),
  'expired-at': sql.raw('"expiredAt"'),
  'last-used-at': sql.raw('"lastUsedAt"'),
} as const satisfies Record<TeamTokenSort, Sql>;

export type TeamTokenFilter = Order<TeamTokenSort> & { readonly search: string | undefined };

/** The tokens of an organization's teams that the caller manages. */
export const listTeamTokens = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  { search, sort, descending }: TeamTokenFilter,
): Promise<Listed<TokenRow>> => {
  // What placeFor and changing say in team-permission.ts of one team that has been read.
  const isOwn =
    actor.kind === 'user'
      ? sql`t.allow_member_token_management and t.id = any (${actor.teams}::text[])`
      : sql.raw('false');
  const where = sql.and([
    sql`token.kind = 'team' and t.organization = home.id and ${isSeenTeam(actor)}`,
    sql`(case when t.id = home.owners_team then home.owned else home.whole or ${isOwn} end)`,
    ...(search ? [sql`position(lower(${search}) in lower(t.name)) > 0`] : []),
  ]);
  const from = sql.raw('from authentication_tokens token join teams t on t.id = token.owner');
  const order = sql`order by ${ORDER[sort]} ${sql.raw(descending ? 'desc' : 'asc')} nulls last, id`;
  const found = await database.slowRows<TokenRow & { home: string; total: number }>(
    actor,
    sql`
    select home.id as home, (select count(*) ${from} where ${where}) as total, page.*
      from (select id, owners_team, ${organizationsWhere(actor, 'manage-team-tokens')} as whole,
                   ${organizationsWhere(actor, 'manage-owners')} as owned
              from ${organizationFor(actor, 'read-organization', organizationName)} offset 0) home
      left join lateral (select * from (select ${TOKEN}, t.name as team_name ${from} where ${where}) shown
                          ${order} ${limitOf(page)}) page on true
     ${order}`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.home });
  return listedIn(found);
};

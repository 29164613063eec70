import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#event-store';
import type { Database } from '#postgres';
import { buildLimit, toListPage, type ListPage, type SortOrder, type PageRequest } from '#json-api';
import {
  requirePermission,
  requireCurrentAccess,
  selectPermittedOrganization,
  isPermittedByRole,
  selectPermittedScopes,
  type Actor,
  type Permission,
  type TokenKind,
} from '#access';
import { requireTeamChange, type TeamScope } from '../team-access/team-permission.js';
import { isVisibleTeam, selectTeamScope } from '../teams/teams.queries.js';

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
type TokenScope = {
  readonly kind: TokenKind;
  /** `user-…`, `team-…`, `org-…`, `apool-…` or `run-…`. */
  readonly owner: string;
  readonly organization: string | null;
  readonly team: TeamScope | null;
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
const requireTokenPermission = (actor: Actor, place: TokenScope): void => {
  const { kind, owner, organization, team } = place;
  if (kind !== 'team') {
    requirePermission(actor, PERMISSION[kind], { organization, ...(kind === 'user' ? { user: owner } : {}) });
    if (kind === 'agent' && place.remoteRunsEnabled)
      requirePermission(actor, 'manage-remote-agent-pools', { organization });
  } else {
    if (!team) throw notFound();
    requireTeamChange(actor, 'manage-team-tokens', team);
  }
};

/** A row of TokenScope, or none. */
const selectTokenScope = ({ kind, key }: TokenOwner, actor: Actor): Sql => {
  const isKind = sql`${kind}::text as kind`;
  switch (kind) {
    case 'user':
      return sql`select ${isKind}, id as owner, null::text as organization, null::jsonb as team, false as "remoteRunsEnabled"
                   from users where id = ${key}`;
    case 'team':
      return sql`select ${isKind}, id as owner, organization, ${selectTeamScope(actor, sql.raw('teams.id'))} as team,
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
 * takes more than one permission, so that `requireTokenPermission` decides that.
 */
const selectVisibleTokenScope = (owner: TokenOwner, actor: Actor): Sql => {
  const place = sql`select * from (${selectTokenScope(owner, actor)}) place where ${requireCurrentAccess(actor)}`;
  if (owner.kind === 'user') return sql`(${place})`;
  return selectPermittedScopes(actor, owner.kind === 'team' ? 'read-teams' : PERMISSION[owner.kind], place);
};

// Organizations are known by their names outside (clients.md §3).
const TOKEN = sql.raw(`token.id, token.kind, token.owner, token.description, token.created_by_type as "createdByType",
  coalesce((select name from organizations where id = token.created_by), token.created_by) as "createdBy",
  token.created_at as "createdAt", token.expired_at as "expiredAt",
  (select used_at from access.token_uses uses where uses.token = token.id) as "lastUsedAt"`);

/** Teams and organizations have one token of a kind that takes the place of the one before: without a name, in teams. */
const IS_SINGLE_TOKEN = sql.raw(`(token.kind <> 'team' or token.description is null)`);

export const selectTokenById = (id: string): Sql =>
  sql`select ${TOKEN} from authentication_tokens token where token.id = ${id}`;

/** One page of an owner's tokens, newest first, and the count of all, in one statement. */
export const listTokens = async (
  database: Database,
  actor: Actor,
  owner: TokenOwner,
  page: PageRequest,
): Promise<ListPage<TokenRow>> => {
  const ofOwner = sql.raw('token.owner = place.owner and token.kind = place.kind');
  const found = await database.slowRows<TokenRow & { place: TokenScope; total: number }>(
    actor,
    sql`
    select to_jsonb(place) as place, page.*,
           (select count(*) from authentication_tokens token where ${ofOwner}) as total
      from ${selectVisibleTokenScope(owner, actor)} place
      left join lateral (select ${TOKEN} from authentication_tokens token where ${ofOwner}
                          order by token.created_at desc, token.id ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  requireTokenPermission(actor, first.place);
  return toListPage(found);
};

export type TokenForCommand = TokenRow & { readonly organization: string | null; readonly snapshot: StreamSnapshot };

/** A token by its id, or the only one of an owner, where the caller manages it. */
export const findAuthenticationToken = async (
  database: Database,
  actor: Actor,
  target: string | TokenOwner,
): Promise<TokenForCommand> => {
  const isTarget =
    typeof target === 'string'
      ? sql`token.id = ${target}`
      : sql`token.kind = ${target.kind} and ${IS_SINGLE_TOKEN}
            and token.owner = (select owner from (${selectTokenScope(target, actor)}) place)`;
  const row = await database.row<TokenForCommand & TokenScope>(sql`
    select ${TOKEN}, token.organization, ${selectTeamScope(actor, sql.raw('token.owner'))} as team,
           exists (select 1 from agent_pools where id = token.owner and remote_runs_enabled) as "remoteRunsEnabled",
           ${buildSnapshotJson('s')} as snapshot
      from authentication_tokens token join event_store.streams s on s.stream = token.id
     where ${isTarget} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenPermission(actor, row);
  return row;
};

/** Where a new token would belong. */
export type OwnerForNewToken = TokenScope & {
  /** What must be there still when the token is: its owner, and the organization. */
  readonly preconditions: readonly StreamVersion[];
  /** What it takes the place of. */
  readonly replaced: readonly { readonly id: string; readonly snapshot: StreamSnapshot }[];
  /** Tokens of the owner, those that it replaces included; expired ones too. */
  readonly existing: number;
  /** The longest life that the organization allows such a token, in milliseconds; null if it sets no limit. */
  readonly maxTtlMs: number | null;
};

export const loadOwnerForNewToken = async (
  database: Database,
  actor: Actor,
  owner: TokenOwner,
  replaces: boolean,
): Promise<OwnerForNewToken> => {
  const row = await database.row<OwnerForNewToken>(sql`
    select place.*,
           ${selectStreamVersions(sql.raw('array[place.owner, place.organization]'))} as preconditions,
           (select count(*) from authentication_tokens token where token.owner = place.owner) as existing,
           (select (o.token_ttl_policies -> replace(place.kind, '-', '_') ->> 'maxTtlMs')::bigint from organizations o
             where o.id = place.organization and (o.settings ->> 'maxTtlEnabled')::boolean) as "maxTtlMs",
           coalesce((select jsonb_agg(jsonb_build_object('id', token.id, 'snapshot', ${buildSnapshotJson('s')}))
                       from authentication_tokens token join event_store.streams s on s.stream = token.id
                      where ${replaces} and token.owner = place.owner and token.kind = place.kind and ${IS_SINGLE_TOKEN}),
                    '[]') as replaced
      from (${selectTokenScope(owner, actor)}) place where ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenPermission(actor, row);
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

export type TeamTokenFilter = SortOrder<TeamTokenSort> & { readonly search: string | undefined };

/** The tokens of an organization's teams that the caller manages. */
export const listTeamTokens = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  { search, sort, descending }: TeamTokenFilter,
): Promise<ListPage<TokenRow>> => {
  // What placeFor and changing say in team-permission.ts of one team that has been read.
  const isOwn =
    actor.kind === 'user'
      ? sql`t.allow_member_token_management and t.id = any (${actor.teams}::text[])`
      : sql.raw('false');
  const where = sql.and([
    sql`token.kind = 'team' and t.organization = home.id and ${isVisibleTeam(actor)}`,
    sql`(case when t.id = home.owners_team then home.owned else home.whole or ${isOwn} end)`,
    ...(search ? [sql`position(lower(${search}) in lower(t.name)) > 0`] : []),
  ]);
  const from = sql.raw('from authentication_tokens token join teams t on t.id = token.owner');
  const order = sql`order by ${ORDER[sort]} ${sql.raw(descending ? 'desc' : 'asc')} nulls last, id`;
  const found = await database.slowRows<TokenRow & { home: string; total: number }>(
    actor,
    sql`
    select home.id as home, (select count(*) ${from} where ${where}) as total, page.*
      from (select id, owners_team, ${isPermittedByRole(actor, 'manage-team-tokens')} as whole,
                   ${isPermittedByRole(actor, 'manage-owners')} as owned
              from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0) home
      left join lateral (select * from (select ${TOKEN}, t.name as team_name ${from} where ${where}) shown
                          ${order} ${buildLimit(page)}) page on true
     ${order}`,
  );
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.home });
  return toListPage(found);
};

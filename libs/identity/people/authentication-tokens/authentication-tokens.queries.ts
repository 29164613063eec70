import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type SortOrder, type PageRequest } from '#api/json-api';
import {
  requirePermission,
  requireCurrentAccess,
  selectPermittedOrganization,
  isPermittedByRole,
  selectPermittedScopes,
  type Actor,
  type Permission,
  type TokenAccess,
  type TokenKind,
  hasOrganizationName,
} from '#api/access';
import { selectActiveOrganizations } from '../sessions/sessions.view.js';
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
  readonly access: TokenAccess;
  /** Name of the only organization in which the token has access, or its id after the organization was deleted. */
  readonly onlyOrganization: string | null;
};

/** Owner of tokens: a kind and an id, or the name of an organization. libs/runs/runs creates the tokens of runs. */
export type TokenOwner = { readonly kind: Exclude<TokenKind, 'run'>; readonly key: string };

/** The owner of tokens for SCIM that belong to no identity provider. */
export const SCIM_TOKENS: TokenOwner = { kind: 'scim', key: 'site' };

/** Scope of an owner's tokens, for the permission table. */
type TokenScope = {
  readonly kind: TokenKind;
  /** Id of the owner: `user-…`, `team-…`, `org-…`, `apool-…` or `run-…`. */
  readonly owner: string;
  readonly organization: string | null;
  readonly team: TeamScope | null;
  /** Whether the agent pool executes the organization's runs in `remote` mode; false for other owners. */
  readonly remoteRunsEnabled: boolean;
};

const PERMISSION = {
  user: 'manage-user-tokens',
  organization: 'manage-organization-tokens',
  'audit-trails': 'manage-organization-tokens',
  agent: 'manage-agent-tokens',
  run: 'manage-agent-tokens',
  scim: 'manage-scim-tokens',
} as const satisfies Record<Exclude<TokenKind, 'team'>, Permission>;

/** Rejects callers that may not manage these tokens. Such callers may not read them either. */
const requireTokenPermission = (actor: Actor, scope: TokenScope): void => {
  const { kind, owner, organization, team } = scope;
  if (kind !== 'team') {
    requirePermission(actor, PERMISSION[kind], { organization, ...(kind === 'user' ? { user: owner } : {}) });
    if (kind === 'agent' && scope.remoteRunsEnabled)
      requirePermission(actor, 'manage-remote-agent-pools', { organization });
  } else {
    if (!team) throw notFound();
    requireTeamChange(actor, 'manage-team-tokens', team);
  }
};

/** Selects a TokenScope, or no row if the owner does not exist. */
const selectTokenScope = ({ kind, key }: TokenOwner, actor: Actor): Sql => {
  const kindColumn = sql`${kind}::text as kind`;
  switch (kind) {
    case 'user':
      return sql`select ${kindColumn}, id as owner, null::text as organization, null::jsonb as team, false as "remoteRunsEnabled"
                   from users where id = ${key}`;
    case 'team':
      return sql`select ${kindColumn}, id as owner, organization, ${selectTeamScope(actor, sql.raw('teams.id'))} as team,
                   false as "remoteRunsEnabled"
                   from teams where id = ${key}`;
    case 'organization':
    case 'audit-trails':
      return sql`select ${kindColumn}, id as owner, id as organization, null::jsonb as team, false as "remoteRunsEnabled"
                   from organizations where ${hasOrganizationName('organizations', key)}`;
    case 'agent':
      return sql`select ${kindColumn}, id as owner, organization, null::jsonb as team,
                   remote_runs_enabled as "remoteRunsEnabled"
                   from agent_pools where id = ${key}`;
    case 'scim':
      return sql`select ${kindColumn}, ${key}::text as owner, null::text as organization, null::jsonb as team,
                   false as "remoteRunsEnabled"`;
  }
};

/**
 * Returns a table expression for the TokenScope, empty if the caller certainly may not manage the tokens. Whether a
 * caller may change a team depends on several permissions, which `requireTokenPermission` checks.
 */
const selectVisibleTokenScope = (owner: TokenOwner, actor: Actor): Sql => {
  const scope = sql`select * from (${selectTokenScope(owner, actor)}) scope where ${requireCurrentAccess(actor)}`;
  if (owner.kind === 'user' || owner.kind === 'scim') return sql`(${scope})`;
  return selectPermittedScopes(actor, owner.kind === 'team' ? 'read-teams' : PERMISSION[owner.kind], scope);
};

// The API identifies organizations by name.
const TOKEN = sql.raw(`token.id, token.kind, token.owner, token.description, token.created_by_type as "createdByType",
  coalesce((select name from organizations where id = token.created_by), token.created_by) as "createdBy",
  token.created_at as "createdAt", token.expired_at as "expiredAt",
  token.access, coalesce((select name from organizations where id = token.only_organization), token.only_organization) as "onlyOrganization",
  (select used_at from access.token_uses uses where uses.token = token.id) as "lastUsedAt"`);

/**
 * Whether a new token replaces this one. Organizations have one token of each kind; a team has one without a
 * description.
 */
const IS_SINGLE_TOKEN = sql.raw(`(token.kind <> 'team' or token.description is null)`);

/** JSON:API type of the creators of workload tokens (libs/identity/workload-identities). */
export const WORKLOAD_IDENTITIES = 'workload-identities';

/** Returns the condition that no workload identity has issued the token with this alias. */
const isNoWorkloadToken = (alias: string): Sql =>
  sql.raw(`${alias}.created_by_type is distinct from '${WORKLOAD_IDENTITIES}'`);

/** Returns an expression for the organizations whose audit trails can record events of tokens of a kind and an owner. */
const selectOwnerTrails = (kind: Sql, owner: Sql): Sql =>
  sql`case when ${kind} = 'user' then ${selectActiveOrganizations(owner)} else '{}'::text[] end`;

/**
 * Returns an expression for the organizations whose audit trails record events of the token in the row `token`: those of
 * the user who owns it, in which it has access. None for other kinds.
 */
export const selectTokenTrails = (): Sql => sql`
  array(select organization from unnest(${selectOwnerTrails(sql.raw('token.kind'), sql.raw('token.owner'))}) organization
         where organization = coalesce(token.only_organization, organization))`;

/** Returns an expression for the id of the owner of a token. */
export const selectTokenOwner = (token: string | null): Sql =>
  sql`(select owner from authentication_tokens where id = ${token})`;

export const selectTokenById = (id: string): Sql =>
  sql`select ${TOKEN} from authentication_tokens token where token.id = ${id}`;

/** Returns one page of an owner's tokens, newest first, and the count of all, from one statement. */
export const listTokens = async (
  database: Database,
  actor: Actor,
  owner: TokenOwner,
  page: PageRequest,
): Promise<ListPage<TokenRow>> => {
  const ofOwner = sql.raw('token.owner = scope.owner and token.kind = scope.kind');
  const rows = await database.slowRows<ListRow<TokenRow, { scope: TokenScope; total: number }>>(
    actor,
    sql`
    select to_jsonb(scope) as scope, page.*,
           (select count(*) from authentication_tokens token where ${ofOwner}) as total
      from ${selectVisibleTokenScope(owner, actor)} scope
      left join lateral (select ${TOKEN} from authentication_tokens token where ${ofOwner}
                          order by token.created_at desc, token.id ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requireTokenPermission(actor, first.scope);
  return toListPage(rows);
};

type TokenForCommand = TokenRow & {
  readonly organization: string | null;
  /** Organizations whose audit trails record the end of a token of a user. */
  readonly organizations: readonly string[];
  readonly snapshot: StreamSnapshot;
};

/**
 * Returns the token with this id, or the single token of an owner. Throws `not-found` if it does not exist or the
 * caller may not manage it.
 */
export const findAuthenticationToken = async (
  database: Database,
  actor: Actor,
  target: string | TokenOwner,
): Promise<TokenForCommand> => {
  const isTarget =
    typeof target === 'string'
      ? sql`token.id = ${target}`
      : sql`token.kind = ${target.kind} and ${IS_SINGLE_TOKEN}
            and token.owner = (select owner from (${selectTokenScope(target, actor)}) scope)`;
  const row = await database.row<TokenForCommand & TokenScope>(sql`
    select ${TOKEN}, token.organization,
           ${selectTokenTrails()} as organizations,
           ${selectTeamScope(actor, sql.raw('token.owner'))} as team,
           exists (select 1 from agent_pools where id = token.owner and remote_runs_enabled) as "remoteRunsEnabled",
           ${buildSnapshotJson('s')} as snapshot
      from authentication_tokens token join event_store.streams s on s.stream = token.id
     where ${isTarget} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenPermission(actor, row);
  return row;
};

export type OwnerForNewToken = TokenScope & {
  /** Versions of the owner and the organization, which must not change while the token is created. */
  readonly preconditions: readonly StreamVersion[];
  /** Tokens that the new token replaces. */
  readonly replaced: readonly { readonly id: string; readonly snapshot: StreamSnapshot }[];
  readonly isSuspended: boolean;
  /** Organizations of the user who owns the token. */
  readonly organizations: readonly string[];
  /** Id of the organization to which the new token is to be restricted; null if there is none. */
  readonly onlyOrganization: string | null;
  /**
   * Number of the owner's tokens, including expired ones and those that will be replaced. Tokens of workload identities
   * have a quota of their own.
   */
  readonly existing: number;
  /** The longest lifetime that the organization allows such a token, in milliseconds; null without a limit. */
  readonly maxTtlMs: number | null;
};

/**
 * Returns an expression for the longest lifetime that an organization allows tokens of a kind, in milliseconds; null
 * without a limit.
 */
export const selectMaxTtl = (kind: Sql, organization: Sql): Sql => sql`
  (select (o.token_ttl_policies -> ${kind} ->> 'maxTtlMs')::bigint from organizations o
    where o.id = ${organization} and (o.settings ->> 'maxTtlEnabled')::boolean)`;

export const loadOwnerForNewToken = async (
  database: Database,
  actor: Actor,
  owner: TokenOwner,
  { replaces, onlyOrganization }: { readonly replaces: boolean; readonly onlyOrganization: string | null },
): Promise<OwnerForNewToken> => {
  const row = await database.row<OwnerForNewToken>(sql`
    select scope.*,
           ${selectStreamVersions(sql.raw('array[scope.owner, scope.organization]'))} as preconditions,
           exists (select 1 from users where id = scope.owner and suspended) as "isSuspended",
           ${selectOwnerTrails(sql.raw('scope.kind'), sql.raw('scope.owner'))} as organizations,
           ${onlyOrganization === null ? sql`null::text` : sql`(select id from organizations where ${hasOrganizationName('organizations', onlyOrganization)})`} as "onlyOrganization",
           (select count(*) from authentication_tokens token
             where token.owner = scope.owner and ${isNoWorkloadToken('token')}) as existing,
           ${selectMaxTtl(sql.raw(`replace(scope.kind, '-', '_')`), sql.raw('scope.organization'))} as "maxTtlMs",
           coalesce((select jsonb_agg(jsonb_build_object('id', token.id, 'snapshot', ${buildSnapshotJson('s')}))
                       from authentication_tokens token join event_store.streams s on s.stream = token.id
                      where ${replaces} and token.owner = scope.owner and token.kind = scope.kind and ${IS_SINGLE_TOKEN}),
                    '[]') as replaced
      from (${selectTokenScope(owner, actor)}) scope where ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenPermission(actor, row);
  return row;
};

export const TEAM_TOKEN_SORTS = ['expired-at', 'team-name', 'created-by', 'last-used-at'] as const;
type TeamTokenSort = (typeof TEAM_TOKEN_SORTS)[number];

/** Sort expressions. Tokens that never expire or were never used always come last. */
const ORDER = {
  'team-name': sql.raw('team_name'),
  'created-by': sql.raw('"createdBy"'),
  'expired-at': sql.raw('"expiredAt"'),
  'last-used-at': sql.raw('"lastUsedAt"'),
} as const satisfies Record<TeamTokenSort, Sql>;

export type TeamTokenFilter = SortOrder<TeamTokenSort> & { readonly search: string | undefined };

/** Returns one page of the team tokens of an organization that the caller manages. */
export const listTeamTokens = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  { search, sort, descending }: TeamTokenFilter,
): Promise<ListPage<TokenRow>> => {
  // The same rule as `toPermissionScope` in team-permission.ts, as SQL.
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
  const rows = await database.slowRows<ListRow<TokenRow & { team_name: string }, { home: string; total: number }>>(
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
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.home });
  return toListPage(rows);
};

import { notFound, sql, type EventContext, type Ids, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type EventStore, type StreamSnapshot } from '#storage/event-store';
import { createSystemContext, type TokenAccess } from '#api/access';
import { authenticationToken } from '../authentication-tokens/authentication-token.js';
import {
  prepareTokenDestruction,
  selectOwnedTokens,
  type OwnedToken,
} from '../authentication-tokens/authentication-tokens.writes.js';
import { selectTokenTrails } from '../authentication-tokens/authentication-tokens.queries.js';
import { selectActiveOrganizations } from '../sessions/sessions.view.js';
import { hasUsername } from '../users/user-names.js';
import { loadUserToForget, type UserToForget } from '../users/users.queries.js';

/** A token as operators see it, without its secret, which is not stored. */
export type TokenOverview = {
  readonly id: string;
  readonly kind: string;
  /** Name of the user, team, organization or agent pool; the id if the owner has no name. */
  readonly owner: string;
  readonly access: TokenAccess;
  /** Name of the only organization in which the token has access, or its id after the organization was deleted. */
  readonly onlyOrganization: string | null;
  readonly description: string | null;
  readonly createdAt: Timestamp;
  readonly lastUsedAt: Timestamp | null;
  readonly expiredAt: Timestamp | null;
};

/**
 * Returns the tokens of a user, or of the whole site if `username` is null, oldest first. Throws `not-found` for an
 * unknown user.
 */
export const listTokensOf = async (store: EventStore, username: string | null): Promise<readonly TokenOverview[]> => {
  const owner = username === null ? null : (await findUserByName(store, username)).id;
  return store.database.rows<TokenOverview>(sql`
    select token.id, token.kind, token.access, token.description,
           coalesce((select name from organizations where id = token.only_organization), token.only_organization) as "onlyOrganization",
           token.created_at as "createdAt", token.expired_at as "expiredAt",
           (select used_at from access.token_uses uses where uses.token = token.id) as "lastUsedAt",
           coalesce((select username from users where id = token.owner),
                    (select o.name || '/' || t.name from teams t join organizations o on o.id = t.organization
                      where t.id = token.owner),
                    (select name from organizations where id = token.owner),
                    (select coalesce(o.name || '/', '') || p.name
                       from agent_pools p left join organizations o on o.id = p.organization where p.id = token.owner),
                    token.owner) as owner
      from authentication_tokens token
     where ${owner}::text is null or token.owner = ${owner}
     order by token.created_at, token.id`);
};

export type UserOverview = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly siteAdmin: boolean;
  /** Names of the organizations that the user is a member of. */
  readonly organizations: readonly string[];
  readonly tokens: number;
};

export const listUsers = (store: EventStore): Promise<readonly UserOverview[]> =>
  store.database.rows<UserOverview>(sql`
    select u.id, u.username, u.email, u.site_admin as "siteAdmin",
           array(select o.name from organization_memberships m join organizations o on o.id = m.organization
                  where m.user_id = u.id order by o.name) as organizations,
           (select count(*)::integer from authentication_tokens where owner = u.id) as tokens
      from users u order by u.username`);

/** Destroys a token of any kind for an operator. Throws `not-found` if no token has this id. */
export const revokeToken = (store: EventStore, ids: Ids, id: string): Promise<void> =>
  endToken(store, id, createSystemContext('command line', ids.uuid()));

/**
 * Destroys all tokens of a user in one append, and retries if another token is created at the same time. Returns the
 * number of tokens. Throws `not-found` for an unknown user.
 */
export const revokeTokensOf = (store: EventStore, user: string, context: EventContext): Promise<number> =>
  store.retryOnConflict(async () => {
    const row = await store.database.row<{ tokens: readonly OwnedToken[]; organizations: readonly string[] }>(sql`
      select ${selectOwnedTokens(sql.raw('u.id'))} as tokens, ${selectActiveOrganizations(sql.raw('u.id'))} as organizations
        from users u where u.id = ${user}`);
    if (!row) throw notFound(`There is no user with the id ${user}`);
    if (row.tokens.length === 0) return 0;
    const { writes, statements } = await prepareTokenDestruction(store, user, row.tokens, row.organizations);
    await store.append(writes, context, statements);
    return row.tokens.length;
  });

type TokenToEnd = {
  readonly snapshot: StreamSnapshot;
  readonly organization: string | null;
  readonly organizations: readonly string[];
};

/** Destroys a token of any kind without a check of permissions. Throws `not-found` if no token has this id. */
export const endToken = async (store: EventStore, id: string, context: EventContext): Promise<void> => {
  await store.handle({
    decider: authenticationToken,
    load: async () => {
      const row = await store.database.row<TokenToEnd>(sql`
        select ${buildSnapshotJson('s')} as snapshot, token.organization,
               ${selectTokenTrails()} as organizations
          from authentication_tokens token join event_store.streams s on s.stream = token.id
         where token.id = ${id}`);
      if (!row) throw notFound(`There is no token with the id ${id}`);
      return { ...(await store.restore(id, authenticationToken, row.snapshot)), row };
    },
    command: ({ row: { organizations } }) => ({ type: 'DestroyAuthenticationToken', data: { organizations } }) as const,
    organization: ({ row }) => row.organization,
    context,
  });
};

/** The memberships, teams and tokens that `forgetUserByName` would end. */
export type ForgetPreview = { readonly id: string } & Pick<
  UserToForget,
  'username' | 'memberships' | 'teams' | 'tokens'
>;

/** Returns the data that `forgetUserByName` would end. Throws `not-found` for an unknown user. */
export const previewForget = async (store: EventStore, username: string): Promise<ForgetPreview> => {
  const { id } = await findUserByName(store, username);
  const row = await loadUserToForget(store.database, id, sql.raw('true'));
  if (!row) throw createUserNotFoundRefusal(username);
  return { id, username: row.username, memberships: row.memberships, teams: row.teams, tokens: row.tokens };
};

const createUserNotFoundRefusal = (username: string) => notFound(`There is no user named ${username}`);

/** Returns the user with this name, in any case. Throws `not-found` for an unknown name. */
export const findUserByName = async (store: EventStore, username: string): Promise<{ readonly id: string }> => {
  const row = await store.database.row<{ id: string }>(sql`select id from users u where ${hasUsername('u', username)}`);
  if (!row) throw createUserNotFoundRefusal(username);
  return row;
};

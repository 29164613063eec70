import { sql, type Projection, notFound, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { requireCurrentAccess, requirePermission, type Actor, type Assurance } from '#api/access';
import type { SessionEvent, SignInMethod } from './session.js';

/** The sessions that have not ended. Some may be idle or expired; a scheduled job ends them. */
export const sessions: Projection<SessionEvent> = {
  name: 'sessions',
  version: 2,
  tables: ['sessions'],
  on: {
    SessionStarted: (started, { stream, time, context: { request } }) => sql`
      insert into sessions (id, user_id, method, provider, provider_session, assurance, address, user_agent, created_at,
                            expired_at, authenticated_at)
      values (${stream}, ${started.user}, ${started.method}, ${started.provider}, ${started.providerSession},
              ${started.assurance}, ${request.address}, ${request.userAgent}, ${time}, ${started.expiredAt},
              ${started.authenticatedAt})`,
    SessionEnded: (_, { stream }) => sql`delete from sessions where id = ${stream}`,
  },
};

export type SessionRow = {
  readonly id: string;
  readonly user: string;
  readonly method: SignInMethod;
  readonly provider: string | null;
  readonly assurance: Assurance;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Timestamp;
  readonly lastUsedAt: Timestamp | null;
  readonly expiredAt: Timestamp;
  /** When the person authenticated at the identity provider, if it has stated that. */
  readonly authenticatedAt: Timestamp | null;
};

/** The columns of a `SessionRow`, of the table `session`. */
export const SESSION =
  sql.raw(`session.id, session.user_id as "user", session.method, session.provider, session.assurance,
  session.address, session.user_agent as "userAgent", session.created_at as "createdAt",
  session.expired_at as "expiredAt", session.authenticated_at as "authenticatedAt",
  (select used_at from access.token_uses uses where uses.token = session.id) as "lastUsedAt"`);

/** The organizations whose audit trails record events of a person. */
export const selectActiveOrganizations = (user: Sql): Sql => sql`array(
  select organization from organization_memberships where user_id = ${user} and status = 'active' order by organization)`;

const requireSessionPermission = (actor: Actor, user: string): void =>
  requirePermission(actor, 'manage-sessions', { organization: null, user });

/** Returns one page of a person's sessions, newest first, and the count of all. */
export const listSessions = async (
  database: Database,
  actor: Actor,
  user: string,
  page: PageRequest,
): Promise<ListPage<SessionRow>> => {
  // Checked first, because the answer must not show whether another person exists.
  requireSessionPermission(actor, user);
  const rows = await database.slowRows<ListRow<SessionRow, { owner: string; total: number }>>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from sessions where user_id = owner.id) as total, page.*
      from (select id from users where id = ${user} and ${requireCurrentAccess(actor)}) owner
      left join lateral (select ${SESSION} from sessions session where session.user_id = owner.id
                          order by session.created_at desc, session.id ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  if (rows.length === 0) throw notFound();
  return toListPage(rows);
};

/** Returns a session. Throws `not-found` if it does not exist or the caller may not see it. */
export const findSession = async (database: Database, actor: Actor, id: string): Promise<SessionRow> => {
  const row = await database.row<SessionRow>(
    sql`select ${SESSION} from sessions session where session.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  if (!row) throw notFound();
  requireSessionPermission(actor, row.user);
  return row;
};

/** Returns the ids of the users with a session that the provider's session led to. */
export const listUsersOfProviderSession = async (
  database: Database,
  { provider, providerSession }: { readonly provider: string; readonly providerSession: string },
): Promise<string[]> => {
  const rows = await database.rows<{ user: string }>(sql`
    select distinct user_id as "user" from sessions
     where provider = ${provider} and provider_session = ${providerSession}`);
  return rows.map(({ user }) => user);
};

/**
 * Returns sessions that began with an identity provider which is not among these, at most `most`, with ids after `after`.
 */
export const listSessionsOfOtherProviders = (
  database: Database,
  providers: readonly string[],
  { after, most }: { readonly after: string; readonly most: number },
): Promise<{ readonly id: string; readonly user: string }[]> =>
  database.rows<{ readonly id: string; readonly user: string }>(sql`
    select id, user_id as "user" from sessions
     where provider is not null and provider <> all (${providers}::text[]) and id > ${after}
     order by id limit ${most}`);

export type OwnedSession = { readonly id: string; readonly snapshot: StreamSnapshot };

/** Returns an expression for the sessions that satisfy a condition on `session`, as jsonb, `OwnedSession[]`. */
export const selectOwnedSessions = (where: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', session.id, 'snapshot', ${buildSnapshotJson('its')}) order by session.id)
    from sessions session join event_store.streams its on its.stream = session.id
   where ${where}), '[]')`;

/** A person with the sessions that a command ends. */
export type PersonWithSessions = {
  readonly id: string;
  readonly username: string;
  readonly organizations: readonly string[];
  readonly sessions: readonly OwnedSession[];
};

/**
 * Loads a person and those of their sessions that satisfy a condition on `session`. `check` is a condition on the
 * request, such as the caller's access.
 */
export const loadPersonWithSessions = (
  database: Database,
  user: Sql,
  where: Sql,
  check: Sql = sql.raw('true'),
): Promise<PersonWithSessions | undefined> =>
  database.row<PersonWithSessions>(sql`
    select u.id, u.username, ${selectActiveOrganizations(sql.raw('u.id'))} as organizations,
           ${selectOwnedSessions(sql`session.user_id = u.id and ${where}`)} as sessions
      from users u where u.id = ${user} and ${check}`);

/** Loads what a command of a caller needs to end one session (`session`), or all sessions of a person except one (`user`). */
export const loadSessionsToEnd = async (
  database: Database,
  actor: Actor,
  target: { readonly session: string } | { readonly user: string; readonly except: string | null },
): Promise<PersonWithSessions> => {
  const isSingle = 'session' in target;
  const row = await loadPersonWithSessions(
    database,
    isSingle ? sql`(select user_id from sessions where id = ${target.session})` : sql`${target.user}`,
    isSingle ? sql`session.id = ${target.session}` : sql`session.id is distinct from ${target.except}`,
    requireCurrentAccess(actor),
  );
  if (!row) throw notFound();
  requireSessionPermission(actor, row.id);
  return row;
};

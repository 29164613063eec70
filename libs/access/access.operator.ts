import { notFound, sql, type Ids } from '#kernel';
import { brokenUnique, unborn, writeOf, type EventStore, type Row } from '#event-store';
import { systemContext } from './actor.js';
import { authenticationToken } from './authentication-token.js';
import { hashOf } from './authenticator.js';
import { OWNERS, team } from './team.js';
import { user } from './user.js';

export const ADMIN = 'admin';

/** A user of that name, made if there is none. */
export const ensureUser = async (
  store: EventStore,
  ids: Ids,
  username: string,
  siteAdmin: boolean,
): Promise<{ readonly id: string }> => {
  const find = () => store.database.row<{ id: string }>(sql`select id from users where username = ${username}`);
  const found = await find();
  if (found) return found;
  const id = ids.next('user');
  const born = { type: 'CreateUser', data: { username, email: null, siteAdmin } } as const;
  await store.append([writeOf(user, unborn(id, user), null, born)], systemContext('command line', ids.uuid()));
  return { id };
};

/** Makes a user an owner of an organization; throws `not-found` where there is none of that name. */
export const makeOwner = async (
  store: EventStore,
  ids: Ids,
  { id, username }: { readonly id: string; readonly username: string },
  organizationName: string,
): Promise<void> => {
  const owners = await store.database.row<{ id: string; organization: string }>(sql`
    select t.id, t.organization from teams t join organizations o on o.id = t.organization
     where o.name = ${organizationName} and t.name = ${OWNERS}`);
  if (!owners) throw notFound(`There is no organization named ${organizationName}`);
  await store.handle({
    decider: team,
    load: () => store.load(owners.id, team),
    command: () => ({ type: 'AddTeamMember', data: { user: id, username } }) as const,
    organization: () => owners.organization,
    context: systemContext('command line', ids.uuid()),
  });
};

/** A token for a user, outside of any request. */
const giveToken = async (
  store: EventStore,
  ids: Ids,
  owner: string,
  secret: string,
  description: string,
): Promise<void> => {
  const id = ids.next('at');
  const data = { kind: 'user', owner, description, createdBy: null, expiredAt: null } as const;
  const birth = { type: 'CreateAuthenticationToken', data } as const;
  await store.append(
    [writeOf(authenticationToken, unborn(id, authenticationToken), null, birth)],
    systemContext('command line', ids.uuid()),
    [sql`insert into access.token_hashes (token, hash) values (${id}, ${hashOf(secret)})`],
  );
};

/** A new token for a user; its secret, which is kept nowhere. */
export const issueUserToken = async (
  store: EventStore,
  ids: Ids,
  owner: string,
  description: string,
): Promise<string> => {
  const secret = ids.secret();
  await giveToken(store, ids, owner, secret, description);
  return secret;
};

/**
 * The site's first administrator and a token that opens everything for them. Does nothing where that token is known
 * already, so that every start may call it, and several at once.
 */
export const ensureAdmin = async (store: EventStore, ids: Ids, secret: string): Promise<void> => {
  const known = (): Promise<Row | undefined> =>
    store.database.row(sql`select 1 from access.token_hashes where hash = ${hashOf(secret)}`);
  if (await known()) return;
  try {
    const { id } = await ensureUser(store, ids, ADMIN, true);
    await giveToken(store, ids, id, secret, 'First administrator');
  } catch (error) {
    // Another process that starts at the same time was faster.
    if (brokenUnique(error) === null || !(await known())) throw error;
  }
};

/** Whether anybody can get in as an administrator of the site. */
export const hasAdmin = async (store: EventStore): Promise<boolean> => {
  const row = await store.database.row(sql`
    select 1 from users u join authentication_tokens t on t.owner = u.id where u.site_admin limit 1`);
  return row !== undefined;
};

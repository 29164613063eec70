import { conflict, notFound, sql, type Ids, type Timestamp } from '#kernel';
import {
  buildSnapshotJson,
  newStream,
  expectVersion,
  decideWrite,
  type EventStore,
  type StreamSnapshot,
  type StreamWrite,
} from '#event-store';
import { getViolatedConstraint, type DatabaseRow } from '#postgres';
import { hashSecret, createSystemContext } from '#access';
import { authenticationToken } from '../authentication-tokens/authentication-token.js';
import { membership } from '../memberships/membership.js';
import { team } from '../teams/team.js';
import { user } from '../users/user.js';
import { forgetUser, type ForgetDependencies } from '../users/users.forget.js';
import { refuseTaken } from '../users/users.handler.js';
import { loadUserToForget } from '../users/users.queries.js';

export const ADMIN_USERNAME = 'admin';

/** A user of that name, made if there is none. Throws `conflict` where there is one who is less than is asked for. */
export const ensureUser = async (
  store: EventStore,
  ids: Ids,
  username: string,
  siteAdmin: boolean,
): Promise<{ readonly id: string }> => {
  const found = await store.database.row<{ id: string; siteAdmin: boolean }>(
    sql`select id, site_admin as "siteAdmin" from users where username = ${username}`,
  );
  if (found && siteAdmin && !found.siteAdmin) {
    throw conflict(`There is a user named ${username} already, who is no administrator of the site; take another name`);
  }
  if (found) return found;
  const id = ids.next('user');
  const born = { type: 'CreateUser', data: { username, email: null, siteAdmin } } as const;
  await store.append(
    [decideWrite(user, newStream(id, user), null, born)],
    createSystemContext('command line', ids.uuid()),
  );
  return { id };
};

/** Gives a user an address, by which they can be invited. Throws `unprocessable` where it is none, or somebody else's. */
export const setEmail = async (store: EventStore, ids: Ids, id: string, email: string): Promise<void> => {
  await store
    .handle({
      decider: user,
      load: () => store.load(id, user),
      command: () => ({ type: 'UpdateUser', data: { changes: { email }, confirmsEmail: true } }) as const,
      organization: () => null,
      context: createSystemContext('command line', ids.uuid()),
    })
    .catch(refuseTaken);
};

/** Forgets a user; throws `not-found` where there is none of that name, `unprocessable` where they are the last of something. */
export const forgetUserByName = async (means: ForgetDependencies, ids: Ids, username: string): Promise<void> => {
  const { store } = means;
  const found = await store.database.row<{ id: string }>(sql`select id from users where username = ${username}`);
  if (!found) throw notFound(`There is no user named ${username}`);
  await forgetUser(means, {
    id: found.id,
    context: createSystemContext('command line', ids.uuid()),
    load: () => loadUserToForget(store.database, found.id, sql.raw('true')),
  });
};

type Ownership = {
  readonly organization: string;
  readonly version: number;
  readonly team: string;
  readonly teamSnapshot: StreamSnapshot;
  /** Null where the user is not in the organization yet. */
  readonly membership: string | null;
  readonly membershipSnapshot: StreamSnapshot;
};

const loadOwnership = async (store: EventStore, user: string, organizationName: string): Promise<Ownership> => {
  const row = await store.database.row<Ownership>(sql`
    select o.id as organization, so.version, o.owners_team as team, ${buildSnapshotJson('st')} as "teamSnapshot",
           m.id as membership, ${buildSnapshotJson('sm')} as "membershipSnapshot"
      from organizations o
      join event_store.streams so on so.stream = o.id
      join event_store.streams st on st.stream = o.owners_team
      left join organization_memberships m on m.organization = o.id and m.user_id = ${user}
      left join event_store.streams sm on sm.stream = m.id
     where o.name = ${organizationName}`);
  if (!row) throw notFound(`There is no organization named ${organizationName}`);
  return row;
};

type NewOwner = { readonly user: string; readonly username: string };

const prepareJoin = async (store: EventStore, ids: Ids, found: Ownership, person: NewOwner): Promise<StreamWrite> => {
  const { organization, membership: id } = found;
  if (id === null) {
    const born = ids.next('ou');
    const birth = { type: 'CreateMembership', data: { id: born, ...person, email: null, status: 'active' } } as const;
    return decideWrite(membership, newStream(born, membership), organization, birth);
  }
  const acceptance = { type: 'AcceptMembership', data: { username: person.username } } as const;
  return decideWrite(
    membership,
    await store.restore(id, membership, found.membershipSnapshot),
    organization,
    acceptance,
  );
};

/** Makes a user an owner of an organization, and a member first; throws `not-found` where there is none of that name. */
export const makeOwner = async (
  store: EventStore,
  ids: Ids,
  { id, username }: { readonly id: string; readonly username: string },
  organizationName: string,
): Promise<void> => {
  const person = { user: id, username };
  const work = async (): Promise<void> => {
    const found = await loadOwnership(store, id, organizationName);
    const owners = await store.restore(found.team, team, found.teamSnapshot);
    const adding = { type: 'AddTeamMembers', data: { members: [{ ...person, invitation: null }] } } as const;
    await store.append(
      [
        expectVersion(found.organization, found.version),
        await prepareJoin(store, ids, found, person),
        decideWrite(team, owners, found.organization, adding),
      ],
      createSystemContext('command line', ids.uuid()),
    );
  };
  await store.untilFirst(work, { races: 'organization_memberships_organization_user_key' });
};

/** A token for a user, outside of any request. */
const createToken = async (
  store: EventStore,
  ids: Ids,
  owner: string,
  secret: string,
  description: string,
  expiredAt: Timestamp | null = null,
): Promise<void> => {
  const id = ids.next('at');
  const data = { kind: 'user', owner, description, createdBy: null, expiredAt } as const;
  const birth = { type: 'CreateAuthenticationToken', data } as const;
  await store.append(
    [decideWrite(authenticationToken, newStream(id, authenticationToken), null, birth)],
    createSystemContext('command line', ids.uuid()),
    [sql`insert into access.token_hashes (token, hash) values (${id}, ${hashSecret(secret)})`],
  );
};

/** Creates a token for a user; returns its secret, which is stored nowhere. Without `expiredAt` it never ends. */
export const issueUserToken = async (
  store: EventStore,
  ids: Ids,
  owner: string,
  description: string,
  expiredAt: Timestamp | null = null,
): Promise<string> => {
  const secret = ids.secret();
  await createToken(store, ids, owner, secret, description, expiredAt);
  return secret;
};

/** Not by the name: they can take another, and somebody else theirs. */
const findFirstAdmin = (store: EventStore): Promise<{ readonly id: string } | undefined> =>
  store.database.row(sql`select id from users where site_admin order by created_at, id limit 1`);

/**
 * The site's first administrator and a token that opens everything for them. Does nothing where that token is known
 * already, so that every start may call it, and several at once.
 */
export const ensureAdmin = async (store: EventStore, ids: Ids, secret: string): Promise<void> => {
  const known = (): Promise<DatabaseRow | undefined> =>
    store.database.row(sql`select 1 from access.token_hashes where hash = ${hashSecret(secret)}`);
  if (await known()) return;
  try {
    const { id } = (await findFirstAdmin(store)) ?? (await ensureUser(store, ids, ADMIN_USERNAME, true));
    await createToken(store, ids, id, secret, 'First administrator');
  } catch (error) {
    // Another process that starts at the same time was faster.
    if (getViolatedConstraint(error) === null || !(await known())) throw error;
  }
};

/** Whether anybody can get in as an administrator of the site. */
export const hasAdmin = async (store: EventStore): Promise<boolean> => {
  const row = await store.database.row(sql`
    select 1 from users u join authentication_tokens t on t.owner = u.id where u.site_admin limit 1`);
  return row !== undefined;
};

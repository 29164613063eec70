import { conflict, notFound, sql, unprocessable, type Ids, type Timestamp } from '#platform/kernel';
import {
  buildSnapshotJson,
  newStream,
  expectVersion,
  decideWrite,
  type EventStore,
  type StreamSnapshot,
  type StreamWrite,
} from '#storage/event-store';
import { getViolatedConstraint } from '#platform/postgres';
import { hasOrganizationName, hashSecret, createSystemContext, UNRESTRICTED } from '#api/access';
import { authenticationToken } from '../authentication-tokens/authentication-token.js';
import {
  createRestriction,
  listTrailsOfNewToken,
  type OrganizationsForToken,
  type RestrictionInput,
} from '../authentication-tokens/authentication-tokens.writes.js';
import { membership } from '../memberships/membership.js';
import { selectActiveOrganizations } from '../sessions/sessions.view.js';
import { team } from '../teams/team.js';
import { user } from '../users/user.js';
import { forgetUser, type ForgetDependencies } from '../users/users.forget.js';
import { hasUsername } from '../users/user-names.js';
import { refuseTaken } from '../users/users.handler.js';
import { loadUserToForget } from '../users/users.queries.js';
import { findUserByName } from './accounts.operator.js';

const ADMIN_USERNAME = 'admin';
/** Other processes that start at the same time can be first with the user, and then with the token. */
const ADMIN_ATTEMPTS = 3;

/**
 * Returns the user with this name in any case, and creates the user if necessary. Throws `conflict` if `siteAdmin` is requested and
 * the user exists, but is no site administrator.
 */
export const ensureUser = async (
  store: EventStore,
  ids: Ids,
  username: string,
  siteAdmin: boolean,
): Promise<{ readonly id: string; readonly username: string }> => {
  const row = await store.database.row<{ id: string; username: string; siteAdmin: boolean }>(
    sql`select id, username, site_admin as "siteAdmin" from users u where ${hasUsername('u', username)}`,
  );
  if (row && siteAdmin && !row.siteAdmin) {
    throw conflict(`A user named ${row.username} exists already and is not a site administrator; choose another name`);
  }
  if (row) return row;
  const id = ids.next('user');
  const creation = { type: 'CreateUser', data: { username, email: null, siteAdmin } } as const;
  await store.append(
    [decideWrite(user, newStream(id, user), null, creation)],
    createSystemContext('command line', ids.uuid()),
  );
  return { id, username };
};

/**
 * Sets the address of a user, by which organizations can invite them. Throws `unprocessable` if the address is invalid
 * or taken.
 */
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

/**
 * Forgets a user. Throws `not-found` for an unknown name, and `unprocessable` for the last owner of an organization and
 * for the last site administrator.
 */
export const forgetUserByName = async (dependencies: ForgetDependencies, ids: Ids, username: string): Promise<void> => {
  const { store } = dependencies;
  const { id } = await findUserByName(store, username);
  await forgetUser(dependencies, {
    id,
    context: createSystemContext('command line', ids.uuid()),
    load: () => loadUserToForget(store.database, id, sql.raw('true')),
  });
};

type Ownership = {
  readonly organization: string;
  readonly version: number;
  readonly team: string;
  readonly teamSnapshot: StreamSnapshot;
} & (
  | { readonly membership: string; readonly membershipSnapshot: StreamSnapshot }
  /** The user is not in the organization. */
  | { readonly membership: null }
);

const loadOwnership = async (store: EventStore, user: string, organizationName: string): Promise<Ownership> => {
  const row = await store.database.row<Ownership>(sql`
    select o.id as organization, so.version, o.owners_team as team, ${buildSnapshotJson('st')} as "teamSnapshot",
           m.id as membership, case when sm.stream is not null then ${buildSnapshotJson('sm')} end as "membershipSnapshot"
      from organizations o
      join event_store.streams so on so.stream = o.id
      join event_store.streams st on st.stream = o.owners_team
      left join organization_memberships m on m.organization = o.id and m.user_id = ${user}
      left join event_store.streams sm on sm.stream = m.id
     where ${hasOrganizationName('o', organizationName)}`);
  if (!row) throw notFound(`There is no organization named ${organizationName}`);
  return row;
};

type NewOwner = { readonly user: string; readonly username: string };

const prepareJoin = async (
  store: EventStore,
  ids: Ids,
  ownership: Ownership,
  person: NewOwner,
): Promise<StreamWrite> => {
  const { organization, membership: id } = ownership;
  if (id === null) {
    const newId = ids.next('ou');
    const creation = {
      type: 'CreateMembership',
      data: { id: newId, ...person, email: null, status: 'active' },
    } as const;
    return decideWrite(membership, newStream(newId, membership), organization, creation);
  }
  const acceptance = { type: 'AcceptMembership', data: { username: person.username } } as const;
  return decideWrite(
    membership,
    await store.restore(id, membership, ownership.membershipSnapshot),
    organization,
    acceptance,
  );
};

/** Makes a user an active member and an owner of an organization. Throws `not-found` for an unknown organization. */
export const makeOwner = async (
  store: EventStore,
  ids: Ids,
  { id, username }: { readonly id: string; readonly username: string },
  organizationName: string,
): Promise<void> => {
  const person = { user: id, username };
  const work = async (): Promise<void> => {
    const ownership = await loadOwnership(store, id, organizationName);
    const owners = await store.restore(ownership.team, team, ownership.teamSnapshot);
    const adding = { type: 'AddTeamMembers', data: { members: [{ ...person, invitation: null }] } } as const;
    await store.append(
      [
        expectVersion(ownership.organization, ownership.version),
        await prepareJoin(store, ids, ownership, person),
        decideWrite(team, owners, ownership.organization, adding),
      ],
      createSystemContext('command line', ids.uuid()),
    );
  };
  await store.retryOnConflict(work, { races: 'organization_memberships_organization_user_key' });
};

const loadOrganizations = async (
  store: EventStore,
  user: string,
  requested: string | null,
): Promise<OrganizationsForToken> => {
  const row = await store.database.row<OrganizationsForToken>(sql`
    select ${selectActiveOrganizations(sql`${user}`)} as organizations,
           (select id from organizations where ${hasOrganizationName('organizations', requested ?? '')}) as "onlyOrganization"`);
  return row ?? { organizations: [], onlyOrganization: null };
};

const createToken = async (
  store: EventStore,
  ids: Ids,
  owner: string,
  secret: string,
  description: string,
  expiredAt: Timestamp | null = null,
  requested: RestrictionInput = UNRESTRICTED,
): Promise<void> => {
  const id = ids.next('at');
  const details = { kind: 'user', owner, description, createdBy: null, expiredAt, assurance: null } as const;
  await store.retryOnConflict(async () => {
    const { version, state } = await store.load(owner, user);
    if (state.status === 'active' && state.suspended) {
      throw unprocessable(`${state.username} is suspended, so this user cannot have new tokens`);
    }
    const organizations = await loadOrganizations(store, owner, requested.organization);
    const restriction = createRestriction(requested, organizations);
    const data = { ...details, organizations: listTrailsOfNewToken(restriction, organizations), restriction };
    const creation = { type: 'CreateAuthenticationToken', data } as const;
    await store.append(
      [
        expectVersion(owner, version),
        decideWrite(authenticationToken, newStream(id, authenticationToken), null, creation),
      ],
      createSystemContext('command line', ids.uuid()),
      [sql`insert into access.token_hashes (token, hash) values (${id}, ${hashSecret(secret)})`],
    );
  });
};

/**
 * Creates a token for a user and returns its secret, which is not stored. Without `expiredAt` the token never expires.
 */
export const issueUserToken = async (
  store: EventStore,
  ids: Ids,
  owner: string,
  description: string,
  expiredAt: Timestamp | null = null,
  restriction: RestrictionInput = UNRESTRICTED,
): Promise<string> => {
  const secret = ids.secret();
  await createToken(store, ids, owner, secret, description, expiredAt, restriction);
  return secret;
};

/**
 * Returns the first administrator of the site.
 *
 * Not searched by name, because the administrator can be renamed and another user can take the name.
 */
export const findFirstAdmin = (store: EventStore): Promise<{ readonly id: string } | undefined> =>
  store.database.row<{ readonly id: string }>(
    sql`select id from users where site_admin and not suspended order by created_at, id limit 1`,
  );

/** Returns whether a token has this secret. */
export const hasToken = async (store: EventStore, secret: string): Promise<boolean> =>
  (await store.database.row(sql`select 1 from access.token_hashes where hash = ${hashSecret(secret)}`)) !== undefined;

/**
 * Ensures that the first site administrator exists and has a token with this secret. Does nothing if the token exists,
 * so that every process can call it at startup.
 */
export const ensureAdmin = async (store: EventStore, ids: Ids, secret: string): Promise<void> => {
  for (let attempt = 1; !(await hasToken(store, secret)); attempt += 1) {
    try {
      const { id } = (await findFirstAdmin(store)) ?? (await ensureUser(store, ids, ADMIN_USERNAME, true));
      await createToken(store, ids, id, secret, 'First administrator');
    } catch (error) {
      if (attempt === ADMIN_ATTEMPTS || getViolatedConstraint(error) === null) throw error;
    }
  }
};

/** Returns whether a site administrator has a token. */
export const hasAdmin = async (store: EventStore): Promise<boolean> => {
  const row = await store.database.row(sql`
    select 1 from users u join authentication_tokens t on t.owner = u.id where u.site_admin limit 1`);
  return row !== undefined;
};

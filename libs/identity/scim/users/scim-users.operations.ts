import { checkQuota, notFound, type EventContext, type Quotas, type Sql } from '#platform/kernel';
import {
  decideWrite,
  getFirstRow,
  newStream,
  type EventStore,
  type LoadedStream,
  type StreamWrite,
} from '#storage/event-store';
import { createEventContext, requireCurrentAccess, type Actor } from '#api/access';
import { getViolatedConstraint } from '#platform/postgres';
import {
  checkEmail,
  chooseUsername,
  countUsers,
  findInvitedAccountByEmail,
  loadUserToSuspend,
  prepareProvisionedUser,
  prepareTakeover,
  prepareUserChange,
  yieldAddress,
  type UserChanges,
  type UserToSuspend,
} from '#identity/people';
import { leaveGroups, type ScimTeamDependencies } from '../groups/scim-teams.writes.js';
import {
  chooseEmail,
  parseScimBody,
  scimUserBody,
  type ScimOperation,
  type ScimUserInput,
} from '../protocol/scim-bodies.js';
import { ScimRefusal } from '../protocol/scim-refusal.js';
import { getScimUserStream, scimUser, type ScimUserNames, type ScimUserState } from './scim-user.js';
import { patchUser } from './scim-user-patch.js';
import { listEmails } from './scim-users.document.js';
import type { UserSignInMethods } from './user-sign-in-methods.port.js';
import { findScimUser, loadNameUse, selectScimUser, type NameUse, type ScimUserRow } from './scim-users.queries.js';

type ScimDependencies = ScimTeamDependencies & { readonly quotas: Quotas };

/** Unique keys that a concurrent request can take first. The retry then finds the rows of that request. */
const RACES = ['users_username_key', 'scim_users_user_name_key', 'scim_users_pkey'];

const createUniquenessRefusal = (attribute: string): ScimRefusal =>
  new ScimRefusal('uniqueness', `${attribute}: another user has it already`);

/** For `catch`. Refuses the address of another user. An account that only an invitation has created has ended before. */
const refuseTakenEmail = (error: unknown): never => {
  if (getViolatedConstraint(error) === 'users_email_key') throw createUniquenessRefusal('emails');
  throw error;
};

/**
 * Another person can have got the user name of a deleted user. The account must not come back for that person, so the
 * request must state the `externalId` of the deleted user, if that user had one.
 */
const refuseOtherPerson = ({ loaded: { state } }: LoadedScimUser, { externalId = null }: ScimUserInput): void => {
  const formerId = state.status === 'absent' ? null : state.externalId;
  if (formerId === null || formerId === externalId) return;
  throw new ScimRefusal(
    'uniqueness',
    'userName: a deleted user with another externalId has it. Send another userName, or have that user forgotten',
  );
};

const createExternalIdRefusal = (): ScimRefusal =>
  new ScimRefusal('mutability', 'externalId: it says who signs in as the user, and cannot change once it is set');

/**
 * Returns the names that a request states. An `externalId` is set once: otherwise every service with a token for SCIM
 * could sign in as somebody else.
 */
const keepExternalId = (present: ScimUserRow, input: ScimUserInput): ScimUserNames => {
  const { userName, externalId } = getNames(input);
  if (present.externalId === null) return { userName, externalId };
  if (externalId !== null && externalId !== present.externalId) throw createExternalIdRefusal();
  return { userName, externalId: present.externalId };
};

/**
 * Creates a user. A user that SCIM has deleted under the same user name comes back, without its former sign-in methods.
 */
export const createScimUser = (
  dependencies: ScimDependencies,
  input: ScimUserInput,
  actor: Actor,
): Promise<ScimUserRow> => {
  const { store } = dependencies;
  const email = chooseEmail(input);
  if (email !== null) checkEmail(email);
  const work = async (): Promise<ScimUserRow> => {
    const use = await loadNameUse(store.database, actor, {
      userName: input.userName,
      username: chooseUsername(input.userName),
    });
    if (use.knownUser === null) return provisionNewUser(dependencies, input, use, actor);
    if (!use.isDeprovisioned || !use.isOfSource) throw createUniquenessRefusal('userName');
    const loaded = await loadScimUser(store, actor, use.knownUser);
    refuseOtherPerson(loaded, input);
    // Again, because a request can have added the user to a group during the deletion.
    await leaveGroups(dependencies, use.knownUser, createEventContext(actor));
    const changes = email === null ? {} : { email };
    await yieldEmail(store, email, { owner: use.knownUser, context: createEventContext(actor) });
    const { source } = use;
    return changeUser(store, actor, loaded, {
      names: getNames(input),
      active: input.active !== false,
      source,
      changes,
    });
  };
  return store.retryOnConflict(work, { races: RACES }).catch(refuseTakenEmail);
};

const yieldEmail = async (
  store: EventStore,
  email: string | null,
  next: { readonly owner: string; readonly context: EventContext },
): Promise<void> => {
  if (email !== null) await yieldAddress(store, email, next);
};

type ProvisionedAccount = { readonly id: string; readonly write: StreamWrite; readonly conditions: readonly Sql[] };

/** Takes over the account that only an invitation has created for the address, or creates one. */
const prepareAccount = async (
  { store, ids, quotas }: ScimDependencies,
  input: ScimUserInput,
  { isUsernameTaken: isTaken }: NameUse,
): Promise<ProvisionedAccount> => {
  const [name, email, suspended] = [chooseUsername(input.userName), chooseEmail(input), input.active === false];
  const invited = email === null ? undefined : await findInvitedAccountByEmail(store, email);
  if (invited) {
    const { write, condition } = await prepareTakeover({ store, quotas }, invited, { name, suspended });
    return { id: invited.id, write, conditions: [condition] };
  }
  const { users } = quotas;
  if (users !== null) checkQuota('users', users, await countUsers(store.database, users));
  return { ...prepareProvisionedUser(ids, { username: name, email, isTaken, suspended }), conditions: [] };
};

const provisionNewUser = async (
  dependencies: ScimDependencies,
  input: ScimUserInput,
  use: NameUse,
  actor: Actor,
): Promise<ScimUserRow> => {
  const { store } = dependencies;
  const { source } = use;
  const active = input.active !== false;
  const { id, write, conditions } = await prepareAccount(dependencies, input, use);
  const provisioning = decideWrite(scimUser, newStream(getScimUserStream(id), scimUser), null, {
    type: 'ProvisionScimUser',
    data: { user: id, ...getNames(input), active, source, organizations: [] },
  });
  const reads = [selectScimUser(id)];
  const { rows } = await store.append([write, provisioning], createEventContext(actor), reads, conditions);
  return getFirstRow<ScimUserRow>(rows);
};

const getNames = ({ userName, externalId = null }: ScimUserInput): ScimUserNames => ({ userName, externalId });

type ScimUserChange = {
  readonly names: ScimUserNames;
  /** Undefined: stays as it is. */
  readonly active: boolean | undefined;
  readonly source: string;
  /** Changes of the user that every module sees. */
  readonly changes: UserChanges;
};

/** Changes the user and what SCIM stores of it, in one append. A deleted user comes back. */
const changeUser = async (
  store: EventStore,
  actor: Actor,
  { id, row, loaded }: LoadedScimUser,
  { names, active, source, changes }: ScimUserChange,
): Promise<ScimUserRow> => {
  const { state } = loaded;
  const suspended = decideSuspension(state, active);
  const request = { id, row, changes, ...(suspended === undefined ? {} : { suspended }) };
  const { writes, statements, conditions, suspends } = await prepareUserChange(store, request);
  const wasActive = state.status === 'absent' || state.active;
  const statement = { ...names, active: suspends ? false : wasActive || suspended === false };
  const { organizations } = row;
  const command =
    state.status === 'provisioned'
      ? ({ type: 'UpdateScimUser', data: { organizations, statement } } as const)
      : ({ type: 'ProvisionScimUser', data: { user: id, organizations, source, ...statement } } as const);
  const stated = decideWrite(scimUser, loaded, null, command);
  const allWrites = [...(stated.events.length > 0 ? [stated] : []), ...writes];
  if (allWrites.length === 0) return findScimUser(store.database, actor, id);
  const reads = [selectScimUser(id), ...statements];
  const { rows } = await store.append(allWrites, createEventContext(actor), reads, conditions);
  return getFirstRow<ScimUserRow>(rows);
};

type LoadedScimUser = {
  readonly id: string;
  readonly row: UserToSuspend;
  readonly loaded: LoadedStream<ScimUserState>;
};

/** Loads a user to change. An append fails if the user has changed since. */
const loadScimUser = async (store: EventStore, actor: Actor, id: string): Promise<LoadedScimUser> => {
  const row = await loadUserToSuspend(store.database, id, requireCurrentAccess(actor));
  if (!row) throw notFound(`There is no user ${id}`);
  return { id, row, loaded: await store.load(getScimUserStream(id), scimUser) };
};

/** Returns undefined if the suspension stays as it is. SCIM ends its own suspensions, and none by an administrator. */
const decideSuspension = (state: ScimUserState, active: boolean | undefined): boolean | undefined => {
  if (active === false) return true;
  return active === true && state.status !== 'absent' && !state.active ? false : undefined;
};

/** Replaces the attributes of a user: `read` returns them from the present ones. */
const updateScimUser = (
  store: EventStore,
  id: string,
  actor: Actor,
  read: (present: ScimUserRow) => ScimUserInput,
): Promise<ScimUserRow> => {
  const work = async (): Promise<ScimUserRow> => {
    // First, because the append then fails if the attributes that are read next belong to a later version.
    const loaded = await loadScimUser(store, actor, id);
    const present = await findScimUser(store.database, actor, id);
    const input = read(present);
    const email = chooseEmail(input);
    const { source } = present;
    const change = { names: keepExternalId(present, input), active: input.active ?? undefined, source };
    const changes = email === null || email === present.email ? {} : { email };
    if (email !== present.email) await yieldEmail(store, email, { owner: id, context: createEventContext(actor) });
    if (input.userName === present.userName) return changeUser(store, actor, loaded, { ...change, changes });
    const username = chooseUsername(input.userName);
    const use = await loadNameUse(store.database, actor, { userName: input.userName, username, user: id });
    if (use.knownUser !== null && use.knownUser !== id) throw createUniquenessRefusal('userName');
    // The user keeps the username if another user has the new one.
    const isFree = username === present.username || !use.isUsernameTaken;
    return changeUser(store, actor, loaded, { ...change, changes: { ...changes, ...(isFree ? { username } : {}) } });
  };
  return store.retryOnConflict(work, { races: RACES }).catch(refuseTakenEmail);
};

export const replaceScimUser = (
  { store }: ScimDependencies,
  id: string,
  input: ScimUserInput,
  actor: Actor,
): Promise<ScimUserRow> => updateScimUser(store, id, actor, () => input);

export const patchScimUser = (
  { store }: ScimDependencies,
  id: string,
  operations: readonly ScimOperation[],
  actor: Actor,
): Promise<ScimUserRow> =>
  updateScimUser(store, id, actor, (present) => {
    const { userName, externalId, active } = present;
    const patched = patchUser({ userName, externalId, active, emails: listEmails(present) }, operations);
    const input = parseScimBody(scimUserBody, patched);
    if (externalId !== null && getNames(input).externalId === null) throw createExternalIdRefusal();
    return input;
  });

/**
 * Suspends the user and ends tokens and sessions, resets the sign-in methods, removes the user from groups and their
 * teams, and then hides the user from SCIM. A repeated request completes an interrupted one. The user stays, so that
 * past actions keep a name.
 */
export const deleteScimUser = async (
  { methods, ...dependencies }: ScimDependencies & { readonly methods: UserSignInMethods },
  id: string,
  actor: Actor,
): Promise<void> => {
  const { store } = dependencies;
  const context = createEventContext(actor);
  await store.retryOnConflict(async () => {
    const loaded = await loadScimUser(store, actor, id);
    const { userName, externalId, source } = await findScimUser(store.database, actor, id);
    return changeUser(store, actor, loaded, { names: { userName, externalId }, active: false, source, changes: {} });
  });
  await methods.reset(id, context);
  await leaveGroups(dependencies, id, context);
  await store.retryOnConflict(async () => {
    const { row, loaded } = await loadScimUser(store, actor, id);
    const data = { organizations: row.organizations };
    await store.append([decideWrite(scimUser, loaded, null, { type: 'DeprovisionScimUser', data })], context);
  });
};

import { checkQuota, notFound, sql, type Ids, type Quotas } from '#kernel';
import { decideWrite, getFirstRow, newStream, type EventStore, type StreamWrite } from '#event-store';
import { createEventContext, type Actor } from '#access';
import { getViolatedConstraint } from '#postgres';
import {
  checkEmail,
  chooseUsername,
  countUsers,
  loadUserToSuspend,
  prepareProvisionedUser,
  prepareUserChange,
  type UserWrites,
} from '#people';
import {
  chooseEmail,
  parseScimBody,
  scimUserBody,
  type ScimOperation,
  type ScimUserInput,
} from '../protocol/scim-bodies.js';
import { applyScimPatch } from '../protocol/scim-patch.body.js';
import { ScimRefusal } from '../protocol/scim-refusal.js';
import { getScimUserStream, scimUser, type ScimUserCommand } from './scim-user.js';
import { renderScimUser } from './scim-users.document.js';
import { findScimUser, loadNameUse, selectScimUser, type ScimUserRow } from './scim-users.queries.js';

export type ScimDependencies = { readonly store: EventStore; readonly ids: Ids; readonly quotas: Quotas };

/** Attributes of users that a patch can change. */
const PATCHED = ['userName', 'externalId', 'active', 'emails'];

/** Unique keys that a concurrent request can take first. The retry then finds the rows of that request. */
const RACES = ['users_username_key', 'scim_users_user_name_key'];

const createUniquenessRefusal = (attribute: string): ScimRefusal =>
  new ScimRefusal('uniqueness', `${attribute}: another account has it already`);

/** For `catch`. An account with the address that SCIM did not make stays its owner's: SCIM does not take it over. */
const refuseTakenEmail = (error: unknown): never => {
  if (getViolatedConstraint(error) === 'users_email_key') throw createUniquenessRefusal('emails');
  throw error;
};

const getNames = ({ userName, externalId = null }: ScimUserInput) => ({ userName, externalId });

const prepareNames = async (store: EventStore, user: string, command: ScimUserCommand): Promise<StreamWrite[]> => {
  const stream = getScimUserStream(user);
  const write = decideWrite(scimUser, await store.load(stream, scimUser), null, command);
  return write.events.length > 0 ? [write] : [];
};

const appendUser = async (
  store: EventStore,
  actor: Actor,
  id: string,
  { writes, statements, conditions }: UserWrites,
): Promise<ScimUserRow> => {
  if (writes.length === 0) return findScimUser(store.database, actor, id);
  const { rows } = await store.append(
    writes,
    createEventContext(actor),
    [selectScimUser(id), ...statements],
    conditions,
  );
  return getFirstRow<ScimUserRow>(rows);
};

const prepareNewAccount = async (
  { store, ids, quotas: { users } }: ScimDependencies,
  input: ScimUserInput,
  isTaken: boolean,
): Promise<{ readonly id: string; readonly writes: UserWrites }> => {
  if (users !== null) checkQuota('users', users, await countUsers(store.database, users));
  const account = { username: chooseUsername(input.userName), email: chooseEmail(input), isTaken };
  const { id, write } = prepareProvisionedUser(ids, { ...account, suspended: !input.active });
  const names = { type: 'ProvisionScimUser', data: { user: id, ...getNames(input) } } as const;
  const provisioning = decideWrite(scimUser, newStream(getScimUserStream(id), scimUser), null, names);
  return { id, writes: { writes: [write, provisioning], statements: [], conditions: [] } };
};

/** Creates an account. An account that SCIM has deprovisioned under the same user name comes back. */
export const createScimUser = (
  dependencies: ScimDependencies,
  input: ScimUserInput,
  actor: Actor,
): Promise<ScimUserRow> => {
  const { store } = dependencies;
  const email = chooseEmail(input);
  if (email !== null) checkEmail(email);
  const work = async (): Promise<ScimUserRow> => {
    const use = await loadNameUse(store.database, actor, input.userName, chooseUsername(input.userName));
    if (use.knownUser === null) {
      const { id, writes } = await prepareNewAccount(dependencies, input, use.isUsernameTaken);
      return appendUser(store, actor, id, writes);
    }
    if (!use.isDeprovisioned) throw createUniquenessRefusal('userName');
    const names = { type: 'ProvisionScimUser', data: { user: use.knownUser, ...getNames(input) } } as const;
    return changeAccount(store, actor, use.knownUser, { input, names });
  };
  return store.untilFirst(work, { races: RACES }).catch(refuseTakenEmail);
};

type AccountChange = {
  readonly input: ScimUserInput;
  readonly names: ScimUserCommand;
  /** The new username, if the user name at the identity provider changes. */
  readonly username?: string;
};

const changeAccount = async (
  store: EventStore,
  actor: Actor,
  id: string,
  { input, names, username }: AccountChange,
): Promise<ScimUserRow> => {
  const row = await loadUserToSuspend(store.database, id, sql.raw('true'));
  if (!row) throw notFound();
  const email = chooseEmail(input);
  const changes = { ...(email === null ? {} : { email }), ...(username === undefined ? {} : { username }) };
  const account = await prepareUserChange(store, { id, row, changes, suspended: !input.active });
  const writes = [...(await prepareNames(store, id, names)), ...account.writes];
  return appendUser(store, actor, id, { ...account, writes });
};

/** Replaces the attributes of a user: `read` returns them from the present ones. */
const updateScimUser = (
  store: EventStore,
  id: string,
  actor: Actor,
  read: (present: ScimUserRow) => ScimUserInput,
): Promise<ScimUserRow> => {
  const work = async (): Promise<ScimUserRow> => {
    const present = await findScimUser(store.database, actor, id);
    const input = read(present);
    const names = { type: 'UpdateScimUser', data: { names: getNames(input) } } as const;
    if (input.userName === present.userName) return changeAccount(store, actor, id, { input, names });
    const newUsername = chooseUsername(input.userName);
    const use = await loadNameUse(store.database, actor, input.userName, newUsername);
    if (use.knownUser !== null && use.knownUser !== id) throw createUniquenessRefusal('userName');
    const isFree = newUsername === present.username || !use.isUsernameTaken;
    return changeAccount(store, actor, id, { input, names, ...(isFree ? { username: newUsername } : {}) });
  };
  return store.untilFirst(work, { races: RACES }).catch(refuseTakenEmail);
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
  updateScimUser(store, id, actor, (present) =>
    parseScimBody(scimUserBody, applyScimPatch(renderScimUser(present), operations, PATCHED)),
  );

/** Suspends the account and ends its tokens. It stays, so that its actions keep a name. */
export const deleteScimUser = ({ store }: ScimDependencies, id: string, actor: Actor): Promise<void> =>
  store.untilFirst(async () => {
    await findScimUser(store.database, actor, id);
    const row = await loadUserToSuspend(store.database, id, sql.raw('true'));
    if (!row) throw notFound();
    const { writes, statements, conditions } = await prepareUserChange(store, { id, row, suspended: true });
    const names = await prepareNames(store, id, { type: 'DeprovisionScimUser', data: {} });
    await store.append([...names, ...writes], createEventContext(actor), statements, conditions);
  });

import { checkQuota, Refusal, sql, type EventContext, type Quotas, type Sql } from '#platform/kernel';
import {
  buildSnapshotJson,
  decideWrite,
  raiseConflictWhen,
  type EventStore,
  type StreamSnapshot,
  type StreamWrite,
} from '#storage/event-store';
import { isUsernameTaken } from './user-names.js';
import { isValidUsername, user, type UserCommand } from './user.js';
import { endAccount } from './users.forget.js';
import { countUsers, loadUserToForget } from './users.queries.js';

/** An account that only an invitation has created. Nobody can sign in with it. */
export type InvitedAccount = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly snapshot: StreamSnapshot;
};

const findInvitedAccount = ({ database }: EventStore, where: Sql): Promise<InvitedAccount | undefined> =>
  database.row<InvitedAccount>(sql`
    select u.id, u.username, u.email, ${buildSnapshotJson('s')} as snapshot
      from users u join event_store.streams s on s.stream = u.id where u.only_invited and ${where}`);

export const findInvitedAccountByEmail = (store: EventStore, email: string): Promise<InvitedAccount | undefined> =>
  findInvitedAccount(store, sql`lower(u.email) = lower(${email})`);

export const findInvitedAccountById = (store: EventStore, id: string): Promise<InvitedAccount | undefined> =>
  findInvitedAccount(store, sql`u.id = ${id}`);

/** What an append needs so that a person takes over an account that only an invitation has created. */
type AccountTakeover = { readonly username: string; readonly write: StreamWrite; readonly condition: Sql };

/**
 * Prepares the takeover of an account. Its pending invitations stay, and its person can accept them. The append fails by
 * the condition if somebody has used the account since it was loaded. `name`: the username of the person at the identity
 * provider. Throws `unprocessable` if the site has the largest number of users: from now on, the account counts.
 */
export const prepareTakeover = async (
  { store, quotas: { users } }: { readonly store: EventStore; readonly quotas: Pick<Quotas, 'users'> },
  { id, username, snapshot }: InvitedAccount,
  { name, suspended = false }: { readonly name?: string; readonly suspended?: boolean } = {},
): Promise<AccountTakeover> => {
  if (users !== null) checkQuota('users', users, await countUsers(store.database, users));
  const rename = name !== undefined && name !== username && (await isUsernameFree(store, name, id)) ? name : null;
  const commands: readonly UserCommand[] = [
    { type: 'ConfirmUser', data: {} },
    ...(rename === null
      ? []
      : [{ type: 'UpdateUser', data: { changes: { username: rename }, confirmsEmail: false } } as const]),
    ...(suspended
      ? [{ type: 'SuspendUser', data: { organizations: [], owned: [], isLastAdmin: false } } as const]
      : []),
  ];
  return {
    username: rename ?? username,
    write: decideWrite(user, await store.restore(id, user, snapshot), null, ...commands),
    // The lock of the row orders this append and a concurrent use of the account.
    condition: raiseConflictWhen(sql`not exists (select 1 from users where id = ${id} and only_invited for update)`),
  };
};

const isUsernameFree = async ({ database }: EventStore, username: string, owner: string): Promise<boolean> =>
  isValidUsername(username) &&
  (await database.row(sql`select 1 where ${isUsernameTaken(username, owner)}`)) === undefined;

/**
 * Ends the account that only an invitation has created for this address, with its invitations, so that the account
 * `owner` can get the address. Does nothing without such an account.
 */
export const yieldAddress = async (
  store: EventStore,
  email: string,
  { owner, context }: { readonly owner: string; readonly context: EventContext },
): Promise<void> => {
  const invited = await findInvitedAccountByEmail(store, email);
  if (invited && invited.id !== owner) await endInvitedAccount(store, invited.id, context);
};

/** Ends an account that only an invitation has created. Returns false if it is not such an account, or `where` is false. */
export const endInvitedAccount = async (
  store: EventStore,
  id: string,
  context: EventContext,
  where: Sql = sql.raw('true'),
): Promise<boolean> => {
  const load = () => loadUserToForget(store.database, id, sql`u.only_invited and ${where}`);
  try {
    await endAccount(store, { id, context, load });
    return true;
  } catch (error) {
    // Somebody has used the account in the meantime, or invited the person again.
    if (error instanceof Refusal && error.kind === 'not-found') return false;
    throw error;
  }
};

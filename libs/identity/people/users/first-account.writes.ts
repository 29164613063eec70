import { checkQuota, sql, type Ids, type Quotas } from '#platform/kernel';
import { decideWrite, newStream, type EventStore, type StreamWrite } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { isUsernameTaken } from './user-names.js';
import { deriveOtherUsername, deriveUsername, user } from './user.js';
import { countUsers } from './users.queries.js';

/** Unique keys that a concurrent request can take first. A retry then finds the rows of that request. */
export const ACCOUNT_RACES = ['users_username_key', 'users_email_key'] as const;

/** The time of `deriveUsername` grows with the square of the length. */
const MAX_NAME = 254;

/** Returns whether a user has this confirmed address. */
export const isEmailTaken = async (database: Database, email: string): Promise<boolean> =>
  (await database.row(sql`select 1 from users where lower(email) = lower(${email})`)) !== undefined;

type FirstAccount = {
  /** A name or an address by which the person is known elsewhere. The username derives from it. */
  readonly name: string;
  /** An address that the person has proved. No user may have it: see `isEmailTaken`. */
  readonly email: string | null;
};

/** An account that the append of `write` creates. */
export type PreparedAccount = { readonly id: string; readonly username: string; readonly write: StreamWrite };

/**
 * Returns the account of a person who signs in for the first time. If another user has the username, the new one gets a
 * suffix. Throws `unprocessable` if the site has the largest number of users.
 */
export const prepareFirstAccount = async (
  { store, ids, quotas }: { readonly store: EventStore; readonly ids: Ids; readonly quotas: Quotas },
  { name, email }: FirstAccount,
): Promise<PreparedAccount> => {
  if (quotas.users !== null) checkQuota('users', quotas.users, await countUsers(store.database, quotas.users));
  const text = name.slice(0, MAX_NAME);
  const first = deriveUsername(text.includes('@') ? text : `${text}@`);
  const isTaken = await store.database.row(sql`select 1 where ${isUsernameTaken(first)}`);
  const id = ids.next('user');
  const username = isTaken ? deriveOtherUsername(first, id.slice(-6)) : first;
  const command = { type: 'CreateUser', data: { username, email, siteAdmin: false } } as const;
  return { id, username, write: decideWrite(user, newStream(id, user), null, command) };
};

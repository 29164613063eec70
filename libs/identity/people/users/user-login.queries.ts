import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { hasUsername } from './user-names.js';

export type UserSigningIn = { readonly id: string; readonly username: string; readonly suspended: boolean };

/** Returns the user with this id; undefined if there is none. */
export const findUserSigningIn = (database: Database, id: string): Promise<UserSigningIn | undefined> =>
  database.row<UserSigningIn>(sql`select id, username, suspended from users where id = ${id}`);

export type UserByLogin = { readonly id: string; readonly username: string; readonly email: string | null };

/**
 * Returns the user with this name, written exactly so. If nobody has it, returns the user with this confirmed address, and
 * otherwise the user with this name in another case.
 */
export const findUserByLogin = (database: Database, login: string): Promise<UserByLogin | undefined> =>
  database.row<UserByLogin>(sql`
    select id, username, email from users u where ${hasUsername('u', login)} or lower(email) = lower(${login})
     order by (username = ${login}) desc, (lower(email) = lower(${login})) desc nulls last limit 1`);

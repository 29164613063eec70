import { sql } from '#kernel';
import type { Database } from '#postgres';

export type UserSigningIn = { readonly id: string; readonly username: string; readonly suspended: boolean };

/** Returns the user with this id; undefined if there is none. */
export const findUserSigningIn = (database: Database, id: string): Promise<UserSigningIn | undefined> =>
  database.row<UserSigningIn>(sql`select id, username, suspended from users where id = ${id}`);

export type UserByLogin = { readonly id: string; readonly username: string; readonly email: string | null };

/** Returns the user with this name or, if nobody has it, with this confirmed address. */
export const findUserByLogin = (database: Database, login: string): Promise<UserByLogin | undefined> =>
  database.row<UserByLogin>(sql`
    select id, username, email from users where username = ${login} or lower(email) = lower(${login})
     order by (username = ${login}) desc limit 1`);

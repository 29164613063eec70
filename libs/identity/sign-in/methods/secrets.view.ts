import { type Projection, sql, type Sql } from '#platform/kernel';
import type { UserForgotten } from '#identity/people';

/** A projection without tables: it deletes secrets, which are no view, and a rebuild does not run it again. */
export const signInSecrets: Projection<UserForgotten> = {
  name: 'sign_in_secrets',
  tables: [],
  on: { UserForgotten: (_, { stream }) => deleteAllMethods(stream) },
};

/** Returns statements that delete every way to sign in, and the links. */
export const deleteAllMethods = (user: string): readonly Sql[] => [
  sql`delete from sign_in.passwords where user_id = ${user}`,
  sql`delete from sign_in.totp_secrets where user_id = ${user}`,
  sql`delete from sign_in.recovery_codes where user_id = ${user}`,
  sql`delete from sign_in.passkeys where user_id = ${user}`,
  sql`delete from sign_in.links where user_id = ${user}`,
];

export const storePassword = (user: string, hash: string, now: Date): Sql => sql`
  insert into sign_in.passwords (user_id, hash, changed_at) values (${user}, ${hash}, ${now})
  on conflict (user_id) do update set hash = excluded.hash, changed_at = excluded.changed_at`;

export const deletePassword = (user: string): Sql => sql`delete from sign_in.passwords where user_id = ${user}`;

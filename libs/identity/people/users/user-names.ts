import { foldInSql, foldName, hasName, sql, type Sql, type UniqueNames } from '#platform/kernel';

export const USER_NAMES: UniqueNames = {
  table: 'users',
  scope: [],
  column: 'username',
  constraint: 'users_username_key',
  noun: 'users',
};

/** Returns the condition that the row of `users` has this name, in any case. */
export const hasUsername = (alias: string, name: string | Sql): Sql => hasName(USER_NAMES, alias, name);

/** Returns the condition that a user has this name, in any case. `except`: id of a user that does not count. */
export const isUsernameTaken = (name: string, except?: string): Sql => sql`
  exists (select 1 from users namesake where ${foldInSql(sql.raw('namesake.username'))} = ${foldName(name)}
                                         and namesake.id is distinct from ${except ?? null}::text)`;

import { sql } from '#kernel';
import type { Database } from '#postgres';
import type { MappedGroups } from './mapped-groups.js';

type StatedGroups = MappedGroups & { readonly user: string; readonly provider: string };

/** Stores the groups that a provider has just stated and that map to teams, instead of the earlier ones. */
export const storeStatedGroups = async (
  database: Database,
  { user, provider, groups, ownersGroups }: StatedGroups,
  now: Date,
): Promise<void> => {
  await database.rows(sql`
    insert into identity_providers.stated_groups (user_id, provider, groups, owners_groups, stated_at)
    values (${user}, ${provider}, ${groups}::text[], ${ownersGroups}::text[], ${now})
    on conflict (user_id, provider) do update
       set groups = excluded.groups, owners_groups = excluded.owners_groups, stated_at = excluded.stated_at`);
};

/** A statement of a provider about a person. */
export type StatementRow = MappedGroups & { readonly provider: string };

/** Returns what providers have stated about a person at the last sign-in with each of them. */
export const listStatements = (database: Database, user: string): Promise<StatementRow[]> =>
  database.rows<StatementRow>(sql`
    select provider, groups, owners_groups as "ownersGroups" from identity_providers.stated_groups
     where user_id = ${user} order by provider`);

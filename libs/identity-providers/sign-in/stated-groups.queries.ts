import { sql } from '#kernel';
import type { Database } from '#postgres';

/** Stores the groups that a provider has just stated, instead of the earlier ones. */
export const storeStatedGroups = async (
  database: Database,
  { user, provider, groups }: { readonly user: string; readonly provider: string; readonly groups: readonly string[] },
  now: Date,
): Promise<void> => {
  await database.rows(sql`
    insert into identity_providers.stated_groups (user_id, provider, groups, stated_at)
    values (${user}, ${provider}, ${groups}::text[], ${now})
    on conflict (user_id, provider) do update set groups = excluded.groups, stated_at = excluded.stated_at`);
};

/** Returns the groups that these providers stated about a person, each once. */
export const listStatedGroups = async (
  database: Database,
  user: string,
  providers: readonly string[],
): Promise<readonly string[]> => {
  const rows = await database.rows<{ group: string }>(sql`
    select distinct unnest(groups) as "group" from identity_providers.stated_groups
     where user_id = ${user} and provider = any (${providers}::text[])`);
  return rows.map(({ group }) => group);
};

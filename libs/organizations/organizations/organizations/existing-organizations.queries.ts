import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** Returns whether the site has an organization. */
export const hasOrganizations = async (database: Database): Promise<boolean> =>
  (await database.row(sql`select 1 from organizations limit 1`)) !== undefined;

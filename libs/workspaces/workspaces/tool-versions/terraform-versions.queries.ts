import { sql } from '#platform/kernel';
import { requireCurrentAccess, type Actor } from '#api/access';
import type { Database } from '#platform/postgres';
import type { ToolRelease } from './tool-releases.catalogue.js';

/**
 * Returns the number of workspaces of the site by version, for workspaces that name exactly one of these releases.
 * Constraints are not counted: they mean another release after each addition to the list.
 */
export const countUses = async (
  database: Database,
  actor: Actor,
  releases: readonly ToolRelease[],
): Promise<ReadonlyMap<string, number>> => {
  const versions = releases.map(({ version }) => version);
  const rows = await database.slowRows<{ readonly version: string; readonly uses: number }>(
    actor,
    sql`select named.version, coalesce(used.workspaces, 0) as uses
          from unnest(${versions}::text[]) as named (version)
          left join (select w.settings ->> 'terraformVersion' as version, count(*) as workspaces from workspaces w
                      where w.settings ->> 'terraformVersion' = any (${versions}::text[]) group by 1) used
            on used.version = named.version
         where ${requireCurrentAccess(actor)}`,
  );
  return new Map(rows.map(({ version, uses }) => [version, uses]));
};

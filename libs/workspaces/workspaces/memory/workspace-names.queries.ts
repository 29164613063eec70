import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { NamesOfOrganization } from './names-in-memory.service.js';
import { SortedNames } from './sorted-names.js';

/** The names of a larger organization would take most of the memory, and each search would read all of them. */
const MAX_NAMES = 50_000;

type NamesRow = { readonly organization: string; readonly names: string; readonly ids: string };

const toLines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

export const findOrganizationByName = async (database: Database, name: string): Promise<string | null> => {
  const row = await database.row<{ id: string }>(sql`select id from organizations where name = ${name}`);
  return row?.id ?? null;
};

/** Reads the names of an organization by its exact name; null if there are too many, or if it does not exist. */
export const readWorkspaceNames = async (
  database: Database,
  organizationName: string,
): Promise<NamesOfOrganization | null> => {
  const [row] = await database.slowRows<NamesRow>(
    { id: organizationName },
    sql`
      select o.id as organization, coalesce(string_agg(w.name, E'\n' order by w.name), '') as names,
             coalesce(string_agg(w.id, E'\n' order by w.name), '') as ids
        from (select id from organizations
               where name = ${organizationName}
                 and (select coalesce(sum(c.workspaces), 0) from workspace_counts c where c.organization = organizations.id)
                     <= ${MAX_NAMES}) o
        left join workspaces w on w.organization = o.id
       group by o.id`,
  );
  const names = row ? SortedNames.create(toLines(row.names), toLines(row.ids)) : null;
  return row && names ? { organization: row.organization, names } : null;
};

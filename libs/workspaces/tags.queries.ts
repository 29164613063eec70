import { sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';

export type TagRow = {
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly instanceCount: number;
};

/** The flat tags of a workspace, in order of insertion, each with the number of workspaces that carry it. */
export const tagsOfWorkspace = (database: Database, workspace: string): Promise<TagRow[]> =>
  database.rows<TagRow>(sql`
    select t.organization, o.name as "organizationName", t.key as name, u.first as "createdAt", u.n as "instanceCount"
      from workspace_tags t
      join organizations o on o.id = t.organization
      join lateral (select min(created_at) as first, count(*) as n
                      from workspace_tags a where a.organization = t.organization and a.key = t.key) u on true
     where t.workspace = ${workspace} and t.value is null
     order by t.added_in, t.ordinal`);

/** The names of all flat tags in use in an organization. */
export const tagsOfOrganization = async (database: Database, organization: string): Promise<string[]> => {
  const rows = await database.rows<{ key: string }>(
    sql`select distinct key from workspace_tags where organization = ${organization} and value is null`,
  );
  return rows.map(({ key }) => key);
};

import { notFound, sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import {
  demand,
  fresh,
  grantsOnWorkspace,
  isGrantedWorkspace,
  organizationsWhere,
  type Actor,
  type Grant,
} from '#access';
import { limitOf, type Page } from '#json-api';

export type TagRow = {
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly instanceCount: number;
};

type AtWorkspace = { readonly owner: string; readonly grants: readonly Grant[] };

/** The flat tags of a workspace, in order of insertion, each with the number of workspaces that carry it. */
export const tagsOfWorkspace = async (database: Database, actor: Actor, workspace: string): Promise<TagRow[]> => {
  const found = await database.rows<TagRow & AtWorkspace>(sql`
    select w.organization as owner, ${grantsOnWorkspace(actor, 'w')} as grants,
           w.organization, o.name as "organizationName", t.key as name, u.first as "createdAt", u.n as "instanceCount"
      from workspaces w
      join organizations o on o.id = w.organization
      left join workspace_tags t on t.workspace = w.id and t.value is null
      left join lateral (select min(created_at) as first, count(*) as n from workspace_tags a
                          where a.organization = t.organization and a.key = t.key and a.value is null) u on true
     where w.id = ${workspace} and ${fresh(actor)}
     order by t.added_in, t.ordinal`);
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-workspace', { organization: first.owner, grants: first.grants });
  return found.filter((row) => row.name !== null);
};

/** The names of all flat tags in use in an organization. */
export const tagsOfOrganization = async (database: Database, organization: string): Promise<string[]> => {
  const rows = await database.rows<{ key: string }>(
    sql`select distinct key from workspace_tags where organization = ${organization} and value is null`,
  );
  return rows.map(({ key }) => key);
};

export type TagFilter = {
  readonly search: string | undefined;
  /** A workspace whose own tags are left out; one that the caller does not see leaves nothing out. */
  readonly without: string | undefined;
};

/** One page of the flat tags that workspaces of an organization carry, and the count of all, in one statement. */
export const listTags = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  { search, without }: TagFilter,
): Promise<{ rows: TagRow[]; total: number }> => {
  const where = sql.and([
    sql`t.organization = owner.id and t.value is null`,
    ...(search ? [sql`position(lower(${search}) in lower(t.key)) > 0`] : []),
    ...(without
      ? [
          sql`not exists (
            select 1 from workspace_tags own join workspaces w on w.id = own.workspace
             where w.id = ${without} and w.organization = owner.id and own.key = t.key
               and (owner.whole or ${isGrantedWorkspace(actor, 'w')}))`,
        ]
      : []),
  ]);
  const found = await database.rows<TagRow & { total: number }>(sql`
    select owner.id as organization, owner.name as "organizationName",
           (select count(distinct t.key) from workspace_tags t where ${where}) as total, page.*
      from (select id, name, ${organizationsWhere(actor, 'read-workspace')} as whole
              from organizations where name = ${organizationName} and ${fresh(actor)}) owner
      left join lateral (select t.key as name, min(t.created_at) as "createdAt", count(*) as "instanceCount"
                           from workspace_tags t where ${where} group by t.key order by t.key ${limitOf(page)}) page on true
     order by page.name`);
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', first);
  return { rows: found.filter((row) => row.name !== null), total: first.total };
};

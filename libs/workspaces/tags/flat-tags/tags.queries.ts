import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectWorkspaceGrants,
  isGrantedWorkspace,
  selectPermittedOrganization,
  selectPermittedScopes,
  type Actor,
  type Grant,
} from '#api/access';
import { buildLimit, type ListPage, type PageRequest } from '#api/json-api';
import { IS_VALUELESS, selectTagOrganization, selectVisibleTags } from '#organizations/tag-bindings';

export type TagRow = {
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  /** When the first workspace got the tag, among workspaces that the caller may read. */
  readonly createdAt: Timestamp;
  /** Number of workspaces with the tag that the caller may read. */
  readonly instanceCount: number;
};

/** Returns a condition: the tag's name contains the text, ignoring case. */
export const matchesSearch = (search: string | undefined): Sql =>
  search ? sql`position(lower(${search}) in lower(t.key)) > 0` : sql.raw('true');

/** Columns that aggregate the rows of `selectVisibleTags`. */
export const TAG_USAGE_COLUMNS = sql.raw(`min(seen.created_at) as "createdAt", count(*) as "instanceCount"`);

type TagOrganizationColumns = Pick<TagRow, 'organization' | 'organizationName'> & { readonly total: number };

/** A flat tag with its organization; of the organization only, if the page is empty. */
export type TagListRow = TagOrganizationColumns & (TagRow | { readonly name: null });

const isTag = (row: TagListRow): row is TagOrganizationColumns & TagRow => row.name !== null;

export const toTagListPage = (rows: readonly TagListRow[]): ListPage<TagRow> => ({
  rows: rows.filter(isTag),
  total: rows[0]?.total ?? 0,
});

/** Returns one page of a workspace's flat tags, in order of insertion, and the count of all, from one statement. */
export const listWorkspaceTags = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
  search: string | undefined,
): Promise<ListPage<TagRow>> => {
  const scopes = sql`
    select w.id, w.organization, ${selectWorkspaceGrants(actor, 'w')} as grants
      from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const own = sql`t.workspace = w.id and ${IS_VALUELESS} and ${matchesSearch(search)}`;
  const rows = await database.slowRows<TagListRow & { readonly grants: readonly Grant[] }>(
    actor,
    sql`
    select owner.id as organization, owner.name as "organizationName", w.grants,
           (select count(*) from workspace_tags t where ${own}) as total, page.name, used.*
      from ${selectPermittedScopes(actor, 'read-workspace', scopes)} w
      join ${selectTagOrganization(actor, sql.raw('true'))} on owner.id = w.organization
      left join lateral (select t.key as name, t.added_in, t.ordinal from workspace_tags t where ${own}
                          order by t.added_in, t.ordinal ${buildLimit(page)}) page on true
      left join lateral (select ${TAG_USAGE_COLUMNS} from (${selectVisibleTags(actor, sql.raw('t.created_at'), sql.raw('t.key = page.name'))}) seen) used
             on page.name is not null
     order by page.added_in, page.ordinal`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-workspace', first);
  return toTagListPage(rows);
};

type TagFilter = {
  readonly search: string | undefined;
  /** Id of a workspace whose tags are excluded. Has no effect if the caller does not see the workspace. */
  readonly without: string | undefined;
};

/** Returns one page of an organization's flat tags by name, and the count of all, from one statement. */
export const listTags = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  { search, without }: TagFilter,
): Promise<ListPage<TagRow>> => {
  const isNotExcluded = without
    ? sql`not exists (
        select 1 from workspace_tags own join workspaces w on w.id = own.workspace
         where w.id = ${without} and w.organization = owner.id and own.key = t.key
           and (owner.whole or ${isGrantedWorkspace(actor, 'w')}))`
    : sql.raw('true');
  const visibleTags = selectVisibleTags(
    actor,
    sql.raw('t.key as name, t.created_at'),
    sql`${matchesSearch(search)} and ${isNotExcluded}`,
  );
  const rows = await database.slowRows<TagListRow>(
    actor,
    sql`
    select owner.id as organization, owner.name as "organizationName", owner.total, page.*
      from (select owner.*, (select count(*) from (select from (${visibleTags}) seen group by seen.name) names) as total
              from ${selectTagOrganization(actor, sql.raw('true'), selectPermittedOrganization(actor, 'read-organization', organizationName))}
            -- The offset keeps the planner from evaluating this for each row of the page.
            offset 0) owner
      left join lateral (select seen.name, ${TAG_USAGE_COLUMNS} from (${visibleTags}) seen group by seen.name order by seen.name ${buildLimit(page)})
             page on true
     order by page.name`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', first);
  return toTagListPage(rows);
};

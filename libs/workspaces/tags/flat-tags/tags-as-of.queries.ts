import { notFound, sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectCurrentWorkspaceGrants,
  selectPermittedScopes,
  type Actor,
  type Grant,
} from '#api/access';
import { buildLimit, type ListPage, type PageRequest, type PointInTime } from '#api/json-api';
import { IS_VALUELESS, selectTagOrganization, selectVisibleTags } from '#organizations/tag-bindings';
import { matchesSearch, toTagListPage, TAG_USAGE_COLUMNS, type TagListRow, type TagRow } from './tags.queries.js';

/**
 * Returns one page of the flat tags that a workspace had at a time, in order of insertion, and the total number of its
 * tags, in one statement. It counts the uses of all tags of the page at once, because every read of the past reads all
 * workspaces that the organization had.
 */
export const listWorkspaceTagsAsOf = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
  search: string | undefined,
  past: PointInTime,
): Promise<ListPage<TagRow>> => {
  const scopes = sql`
    select w.id, w.organization, ${selectCurrentWorkspaceGrants(actor, sql.raw('w.id'))} as grants
      from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<TagListRow & { readonly grants: readonly Grant[] }>(
    actor,
    sql.unkept(sql`
    ${past.views({ id: workspace })},
    owner as materialized (
      select owner.*, w.id as workspace, w.grants
        from ${selectPermittedScopes(actor, 'read-workspace-history', scopes)} w
        join ${selectTagOrganization(actor, sql.raw('true'))} on owner.id = w.organization),
    own as materialized (
      select t.key as name, t.ordinal from owner join workspace_tags t on t.workspace = owner.workspace
       where ${IS_VALUELESS} and ${matchesSearch(search)}),
    page as materialized (select * from own order by ordinal ${buildLimit(page)}),
    used as materialized (
      select seen.name, ${TAG_USAGE_COLUMNS}
        from owner cross join lateral (
          ${selectVisibleTags(actor, sql.raw('t.key as name, t.created_at'), sql.raw('t.key in (select name from page)'))}) seen
       group by seen.name)
    select owner.id as organization, owner.name as "organizationName", owner.grants,
           (select count(*) from own) as total, page.name, used."createdAt", used."instanceCount"
      from owner left join page on true left join used on used.name = page.name
     order by page.ordinal`),
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-workspace-history', first);
  return toTagListPage(rows);
};

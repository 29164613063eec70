import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  selectGrantedWorkspaces,
  isPermittedByRole,
  selectPermittedOrganization,
  toPermittedPage,
  type Actor,
} from '#api/access';
import { buildLimit, type ListPage, type PageRequest, type ListRow } from '#api/json-api';
import { selectTagGaps } from '#organizations/tag-bindings';

/** A workspace that lacks a value for reserved keys. */
export type TagComplianceGapRow = {
  /** Id of the workspace. */
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly projectName: string;
  readonly missingKeys: readonly string[];
};

export type GapFilter = {
  readonly project: string | undefined;
  /** Only workspaces without a value for this key. Their other missing keys are shown too. */
  readonly key: string | undefined;
  /** Only workspaces without a value for this key, which counts as reserved. */
  readonly proposedKey: string | undefined;
};

/** Selects the reserved keys of an organization, with the proposed one. */
const selectKeys = (organization: Sql, proposedKey: string | undefined): Sql => sql`
  (select key from reserved_tag_keys where organization = ${organization}
   ${proposedKey ? sql`union select ${proposedKey}::text` : sql.raw('')})`;

/**
 * Selects the reserved keys that the workspace `w` has no value for. Its own tag takes precedence, even without a
 * value, as a flat tag.
 */
const selectMissingKeys = (proposedKey: string | undefined): Sql => sql`array(
  select rk.key from ${selectKeys(sql.raw('w.organization'), proposedKey)} rk
    left join workspace_tags t on t.workspace = w.id and t.key = rk.key
    left join project_tags pt on pt.project = w.project and pt.key = rk.key
   where coalesce(case when t.key is null then pt.value else t.value end, '') = ''
   order by rk.key)`;

/** Selects the workspaces of `owner` with a gap. */
const selectGaps = (actor: Actor, { project, key: reservedKey, proposedKey }: GapFilter): Sql => {
  const key = proposedKey ?? reservedKey;
  const isInScope = sql.and([
    sql`(owner.whole or w.id in (${selectGrantedWorkspaces(actor)}))`,
    ...(project ? [sql`w.project = ${project}`] : []),
  ]);
  const keys = sql`owner
      cross join lateral (select owner.id as organization, key from ${selectKeys(sql.raw('owner.id'), proposedKey)} k
                           where ${key ? sql`key = ${key}` : sql`true`}) rk`;
  return selectTagGaps(keys, isInScope);
};

/** Returns one page of gaps and the count of all, from one statement. */
export const listTagComplianceGaps = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  filter: GapFilter,
): Promise<ListPage<TagComplianceGapRow>> => {
  const statement = sql`
    with owner as materialized (
      select id, ${isPermittedByRole(actor, 'read-workspace')} as whole
        from ${selectPermittedOrganization(actor, 'read-reserved-tag-keys', organizationName)}),
    gaps as materialized (${selectGaps(actor, filter)})
    select owner.id as owner, (select count(*) from gaps) as total, page.*
      from owner left join lateral (
        select w.id, w.name, w.project, p.name as "projectName", ${selectMissingKeys(filter.proposedKey)} as "missingKeys"
          from (select id from gaps order by name ${buildLimit(page)}) shown
          join workspaces w on w.id = shown.id join projects p on p.id = w.project) page on true
     order by page.name`;
  const rows = await database.slowRows<ListRow<TagComplianceGapRow, { owner: string; total: number }>>(
    actor,
    // Not prepared, because the best plan depends on the key: it is missing in nearly every workspace, or in none.
    sql.unkept(statement),
  );
  return toPermittedPage(actor, 'read-reserved-tag-keys', rows);
};

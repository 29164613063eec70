import { notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { Actor } from '../callers/actor.js';
import { selectPermittedOrganization } from './grants.queries.js';
import type { Grant } from './grants.js';
import { requirePermission, requirePermittedRow, type Permission } from './permissions.js';

type OwnedListRow = {
  readonly id: string | null;
  readonly total: number;
  /** Null if the rows belong to the site. */
  readonly owner: string | null;
  readonly ownerGrants?: readonly Grant[];
};

/**
 * Returns a page from the rows of a list statement whose owner is an organization, the site or, with its grants, a resource.
 * Throws `not-found` if there is no row, and the refusal of the permission if the caller lacks it.
 */
export const toPermittedPage = <Row extends OwnedListRow>(
  actor: Actor,
  permission: Permission,
  rows: readonly Row[],
): ListPage<Exclude<Row, { readonly id: null }>> => {
  const [first] = rows;
  requirePermittedRow(actor, permission, first && { organization: first.owner, grants: first.ownerGrants ?? [] });
  return toListPage(rows);
};

/** A list of rows of one organization. Its SQL members can use `owner.id`, the id of the organization. */
export type OrganizationList = {
  readonly organization: string;
  /** Permission that the caller must have in the organization by a role. */
  readonly permission: Permission;
  /** One of the columns has the name `id`. */
  readonly columns: Sql;
  /** Includes the keyword `from`. */
  readonly from: Sql;
  readonly where: Sql;
  readonly order: Sql;
};

/**
 * Returns one page and the count of all rows from one statement. Without `offset 0`, Postgres would count again for each
 * row of the page. Throws `not-found` for callers without the permission.
 */
export const listInOrganization = async <Row extends { readonly id: string }>(
  database: Database,
  actor: Actor,
  { organization, permission, columns, from, where, order }: OrganizationList,
  page: PageRequest,
): Promise<ListPage<Row> & { readonly organization: string }> => {
  const rows = await database.slowRows<ListRow<Row, { readonly owner: string; readonly total: number }>>(
    actor,
    sql`
    select owner.id as owner, owner.total, page.*
      from (select owner.id, (select count(*) ${from} where ${where}) as total
              from (select id from ${selectPermittedOrganization(actor, permission, organization)} offset 0) owner
            offset 0) owner
      left join lateral (select * from (select ${columns} ${from} where ${where}) listed
                          order by ${order} ${buildLimit(page)}) page on true
     order by ${order}`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, permission, { organization: first.owner });
  return { ...toListPage(rows), organization: first.owner };
};

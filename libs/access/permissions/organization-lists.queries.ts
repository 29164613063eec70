import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#postgres';
import { buildLimit, toListPage, type ListPage, type PageRequest } from '#json-api';
import type { Actor } from '../authentication/actor.js';
import { selectPermittedOrganization } from './grants.queries.js';
import { requirePermission, type Permission } from './permissions.js';

/** A list of rows of one organization, which is `owner.id` in the SQL of its members. */
export type OrganizationList = {
  /** The name of the organization. */
  readonly organization: string;
  /** What the caller must be allowed to do in the organization by a role. */
  readonly permission: Permission;
  /** One of them is named `id`. */
  readonly columns: Sql;
  /** With its `from`. */
  readonly from: Sql;
  readonly where: Sql;
  /** Names of the columns that the rows are sorted by. */
  readonly order: Sql;
};

/** Returns one page and the count of all rows, from one statement. Throws `not-found` to callers without the permission. */
export const listInOrganization = async <Row extends { readonly id: string }>(
  database: Database,
  actor: Actor,
  { organization, permission, columns, from, where, order }: OrganizationList,
  page: PageRequest,
): Promise<ListPage<Row> & { readonly organization: string }> => {
  const found = await database.slowRows<Row & { readonly owner: string; readonly total: number }>(
    actor,
    sql`
    select owner.id as owner, (select count(*) ${from} where ${where}) as total, page.*
      from (select id from ${selectPermittedOrganization(actor, permission, organization)} offset 0) owner
      left join lateral (select * from (select ${columns} ${from} where ${where}) listed
                          order by ${order} ${buildLimit(page)}) page on true
     order by ${order}`,
  );
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, permission, { organization: first.owner });
  return { ...toListPage(found), organization: first.owner };
};

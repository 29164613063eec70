import { hasOneOfNames, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  hasOrganizationName,
  ORGANIZATION_NAMES,
  requirePermittedRow,
  requireCurrentAccess,
  isPermittedByRole,
  type Actor,
  type Permission,
} from '#api/access';
import { toListPage, buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';

export type GpgKeyRow = {
  readonly id: string;
  readonly organization: string;
  /** Name of the organization, which is also the namespace of its providers. */
  readonly namespace: string;
  readonly keyId: string;
  readonly asciiArmor: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

/** Path parameters of a key: `/gpg-keys/:namespace/:keyId`. */
export type GpgKeyPath = { readonly namespace: string; readonly keyId: string };

const columns = sql.raw(`
  k.id, k.organization, o.name as namespace, k.key_id as "keyId", k.ascii_armor as "asciiArmor",
  k.created_at as "createdAt", k.updated_at as "updatedAt"`);

const FROM = sql.raw('from gpg_keys k join organizations o on o.id = k.organization');

export const selectGpgKeyById = (id: string): Sql => sql`select ${columns} ${FROM} where k.id = ${id}`;

export const selectGpgKeysByIds = (ids: Sql): Sql => sql`select ${columns} ${FROM} where k.id = any (${ids})`;

export type GpgKeyForCommand = GpgKeyRow & { readonly organizationVersion: number; readonly snapshot: StreamSnapshot };

const selectForCommand = (condition: Sql): Sql => sql`
  select ${columns}, so.version as "organizationVersion", ${buildSnapshotJson('s')} as snapshot
    ${FROM} join event_store.streams s on s.stream = k.id join event_store.streams so on so.stream = o.id
   where ${condition}`;

/** Returns the key with this id of an organization, or null. Checks no permission. */
export const findGpgKeyOfOrganization = async (
  database: Database,
  organization: string,
  keyId: string,
): Promise<GpgKeyForCommand | null> => {
  const row = await database.row<GpgKeyForCommand>(
    selectForCommand(sql`k.organization = ${organization} and k.key_id = ${keyId}`),
  );
  return row ?? null;
};

/** Returns the key. Throws not-found if it does not exist, and a refusal if the caller lacks the permission. */
export const findGpgKey = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  { namespace, keyId }: GpgKeyPath,
): Promise<GpgKeyForCommand> => {
  const row = await database.row<GpgKeyForCommand>(
    selectForCommand(
      sql`${hasOrganizationName('o', namespace)} and k.key_id = upper(${keyId}) and ${requireCurrentAccess(actor)}`,
    ),
  );
  return requirePermittedRow(actor, permission, row);
};

/**
 * Returns one page of the keys of these namespaces, without those that the caller cannot read, and the total count, in
 * one statement.
 */
export const listGpgKeys = async (
  database: Database,
  actor: Actor,
  namespaces: readonly string[],
  page: PageRequest,
): Promise<ListPage<GpgKeyRow>> => {
  const where = sql`k.organization in (select id from organizations
                                        where ${hasOneOfNames(ORGANIZATION_NAMES, 'organizations', namespaces)}
                                          and ${isPermittedByRole(actor, 'read-providers')})`;
  const rows = await database.slowRows<ListRow<GpgKeyRow, { total: number }>>(
    actor,
    sql`
    select total.n as total, page.*
      from (select count(*) as n from gpg_keys k where ${where} and ${requireCurrentAccess(actor)}) total
      left join lateral (select ${columns} ${FROM} where ${where} order by o.name, k.created_at, k.id ${buildLimit(page)}) page
        on true
     order by page.namespace, page."createdAt", page.id`,
  );
  return toListPage(rows);
};

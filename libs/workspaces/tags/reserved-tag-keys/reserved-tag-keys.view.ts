import { sql, type Projection, type OrganizationDeleted, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import {
  requirePermittedRow,
  requireCurrentAccess,
  listInOrganization,
  type Actor,
  type Permission,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import type { ReservedTagKeyEvent } from './reserved-tag-key.js';

export const reservedTagKeys: Projection<ReservedTagKeyEvent | OrganizationDeleted> = {
  name: 'reserved_tag_keys',
  version: 1,
  tables: ['reserved_tag_keys'],
  on: {
    ReservedTagKeyCreated: ({ key, disableOverrides }, { stream, organization, time }) => sql`
      insert into reserved_tag_keys (id, organization, key, disable_overrides, created_at, updated_at)
      values (${stream}, ${organization}, ${key}, ${disableOverrides}, ${time}, ${time})`,
    ReservedTagKeyUpdated: ({ to }, { stream, time }) => sql`
      update reserved_tag_keys
         set key = ${to.key}, disable_overrides = ${to.disableOverrides}, updated_at = ${time}
       where id = ${stream}`,
    ReservedTagKeyDeleted: (_, { stream }) => sql`delete from reserved_tag_keys where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from reserved_tag_keys where organization = ${stream}`,
  },
};

export type ReservedTagKeyRow = {
  readonly id: string;
  readonly organization: string;
  readonly key: string;
  readonly disableOverrides: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const COLUMNS = sql.raw(`rk.id, rk.organization, rk.key, rk.disable_overrides as "disableOverrides",
  rk.created_at as "createdAt", rk.updated_at as "updatedAt"`);

const LIST = {
  permission: 'read-reserved-tag-keys',
  columns: COLUMNS,
  from: sql.raw('from reserved_tag_keys rk'),
  where: sql.raw('rk.organization = owner.id'),
  order: sql.raw('key'),
} as const;

export const selectReservedTagKeyById = (id: string): Sql =>
  sql`select ${COLUMNS} from reserved_tag_keys rk where rk.id = ${id}`;

export const selectReservedTagKeysByIds = (ids: Sql): Sql =>
  sql`select ${COLUMNS} from reserved_tag_keys rk where rk.id = any (${ids})`;

type ReservedTagKeyForCommand = ReservedTagKeyRow & {
  readonly snapshot: StreamSnapshot;
  /** Version of the organization: after its deletion, no event about its contents may follow. */
  readonly preconditions: readonly StreamVersion[];
};

/** Returns the reserved tag key. Throws the refusal of the permission table if the caller lacks the permission. */
export const findReservedTagKey = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<ReservedTagKeyForCommand> => {
  const row = await database.row<ReservedTagKeyForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot, ${selectStreamVersions(sql.raw('array[rk.organization]'))} as preconditions
      from reserved_tag_keys rk join event_store.streams s on s.stream = rk.id
     where rk.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};

/** Returns one page and the count of all reserved tag keys, from one statement. */
export const listReservedTagKeys = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<ReservedTagKeyRow>> => listInOrganization(database, actor, { ...LIST, organization }, page);

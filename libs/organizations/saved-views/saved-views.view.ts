import {
  type UniqueNames,
  claimNames,
  sql,
  type OrganizationDeleted,
  type Projection,
  notFound,
  type Sql,
  type Timestamp,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { UserForgotten } from '#identity/people';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import {
  listInOrganization,
  loadParentWithCount,
  requireCurrentAccess,
  requirePermission,
  type Actor,
  type Permission,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import type { SavedViewEvent } from './saved-view.js';

/** Each person names their own views. */
export const SAVED_VIEW_NAMES: UniqueNames = {
  table: 'saved_views',
  scope: ['organization', 'created_by'],
  constraint: 'saved_views_owner_name_key',
  noun: 'saved views of a person',
};

export const savedViews: Projection<SavedViewEvent | OrganizationDeleted | UserForgotten> = {
  name: 'saved_views',
  version: 1,
  tables: ['saved_views'],
  on: {
    SavedViewCreated: ({ name, query, shared, createdBy }, { stream, organization, time }) => sql`
      insert into saved_views (id, organization, created_by, name, query, shared, created_at, updated_at)
      values (${stream}, ${organization}, ${createdBy}, ${name}, ${query}, ${shared}, ${time}, ${time})`,
    SavedViewUpdated: ({ name, query, shared }, { stream, time }) => sql`
      update saved_views set name = ${name}, query = ${query}, shared = ${shared}, updated_at = ${time}
       where id = ${stream}`,
    SavedViewDeleted: (_, { stream }) => sql`delete from saved_views where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from saved_views where organization = ${stream}`,
    // Others use the shared ones.
    UserForgotten: (_, { stream }) => sql`delete from saved_views where created_by = ${stream} and not shared`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const savedViewNames: Projection<Extract<SavedViewEvent, { type: 'SavedViewCreated' | 'SavedViewUpdated' }>> = {
  name: 'saved_view_names',
  tables: [],
  on: {
    SavedViewCreated: (_, { stream }) => claimNames(SAVED_VIEW_NAMES, [stream]),
    SavedViewUpdated: (_, { stream }) => claimNames(SAVED_VIEW_NAMES, [stream]),
  },
};

export type SavedViewRow = {
  readonly id: string;
  readonly organization: string;
  /** Id of the user who saved it. */
  readonly createdBy: string;
  readonly name: string;
  readonly query: string;
  readonly shared: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const COLUMNS = sql.raw(`v.id, v.organization, v.created_by as "createdBy", v.name, v.query, v.shared,
  v.created_at as "createdAt", v.updated_at as "updatedAt"`);

/** Private views are visible only to their person, also for owners and site administrators. */
const isVisible = (actor: Actor): Sql => sql`(v.shared or v.created_by = ${actor.id})`;

export const selectSavedViewById = (id: string): Sql => sql`select ${COLUMNS} from saved_views v where v.id = ${id}`;

type SavedViewForCommand = SavedViewRow & {
  readonly snapshot: StreamSnapshot;
  /** Version of the organization: after its deletion, no event about its contents may follow. */
  readonly preconditions: readonly StreamVersion[];
};

/** Returns the view. Throws `not-found` if the caller may not see it, or the refusal of the permission. */
export const findSavedView = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<SavedViewForCommand> => {
  const row = await database.row<SavedViewForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot, ${selectStreamVersions(sql.raw('array[v.organization]'))} as preconditions
      from saved_views v join event_store.streams s on s.stream = v.id
     where v.id = ${id} and ${isVisible(actor)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-organization', row);
  requirePermission(actor, permission, { organization: row.organization, user: row.createdBy });
  return row;
};

/** Returns the organization, and how many views the caller has there. Throws if the caller may not save views there. */
export const loadOrganizationForSavedView = async (database: Database, actor: Actor, name: string) => {
  const count = sql`select count(*) from saved_views v where v.organization = o.id and v.created_by = ${actor.id}`;
  const row = await loadParentWithCount(database, actor, 'read-organization', name, count);
  requirePermission(actor, 'save-views', { organization: row.organization, user: actor.id });
  return row;
};

/** Returns one page and the count of the views that the caller may see, from one statement. */
export const listSavedViews = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<SavedViewRow>> =>
  listInOrganization(
    database,
    actor,
    {
      organization,
      permission: 'read-organization',
      columns: COLUMNS,
      from: sql.raw('from saved_views v'),
      where: sql`v.organization = owner.id and ${isVisible(actor)}`,
      order: sql.raw('name, id'),
    },
    page,
  );

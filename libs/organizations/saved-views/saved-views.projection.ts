import { claimNames, sql, type OrganizationDeleted, type Projection } from '#platform/kernel';
import type { UserForgotten } from '#identity/people';
import { SAVED_VIEW_NAMES } from './saved-view-names.js';
import type { SavedViewEvent } from './saved-view.js';

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

import type { UniqueNames } from '#platform/kernel';

/** Each person names their own views. */
export const SAVED_VIEW_NAMES: UniqueNames = {
  table: 'saved_views',
  scope: ['organization', 'created_by'],
  constraint: 'saved_views_owner_name_key',
  noun: 'saved views of a person',
};

import { listOf, orderOf, parameter, type Query } from '#json-api';
import { taggedIn } from '#tag-bindings';
import type { ProjectFilter } from './projects.queries.js';

/** Being there is enough; who writes `false` means the opposite. */
const isAsked = (query: Query, name: string): boolean => {
  const value = parameter(query, name);
  return value !== undefined && value !== 'false';
};

/** The query parameters of the list of projects. */
export const filterOf = (query: Query): ProjectFilter => ({
  names: listOf(query, 'filter[names]'),
  search: parameter(query, 'q'),
  createsWorkspaces: isAsked(query, 'filter[permissions][create-workspace]'),
  updates: isAsked(query, 'filter[permissions][update]'),
  tagged: taggedIn(query),
  descending: orderOf(query, ['name']).descending,
});

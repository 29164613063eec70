import { getListParameter, parseSort, getParameter, type QueryParameters } from '#api/json-api';
import { parseTagFilter, TAG_FILTERS } from '#organizations/tag-bindings';
import type { ProjectFilter } from './projects.queries.js';

export const PROJECT_SORTS = ['name'] as const;

/** The filters of the list of projects. */
export const PROJECT_FILTERS = [
  'filter[names]',
  'filter[permissions][create-workspace]',
  'filter[permissions][update]',
  ...TAG_FILTERS,
];

/** Returns whether the parameter is present and not `false`. */
const isRequested = (query: QueryParameters, name: string): boolean => {
  const value = getParameter(query, name);
  return value !== undefined && value !== 'false';
};

export const parseProjectFilter = (query: QueryParameters): ProjectFilter => ({
  names: getListParameter(query, 'filter[names]'),
  search: getParameter(query, 'q'),
  createsWorkspaces: isRequested(query, 'filter[permissions][create-workspace]'),
  updates: isRequested(query, 'filter[permissions][update]'),
  tagged: parseTagFilter(query),
  descending: parseSort(query, PROJECT_SORTS).descending,
});

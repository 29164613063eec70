import { getListParameter, parseSort, getParameter, type QueryParameters } from '#json-api';
import { parseTagFilter } from '#tag-bindings';
import type { ProjectFilter } from './projects.queries.js';

/** Being there is enough; who writes `false` means the opposite. */
const isRequested = (query: QueryParameters, name: string): boolean => {
  const value = getParameter(query, name);
  return value !== undefined && value !== 'false';
};

/** The query parameters of the list of projects. */
export const parseProjectFilter = (query: QueryParameters): ProjectFilter => ({
  names: getListParameter(query, 'filter[names]'),
  search: getParameter(query, 'q'),
  createsWorkspaces: isRequested(query, 'filter[permissions][create-workspace]'),
  updates: isRequested(query, 'filter[permissions][update]'),
  tagged: parseTagFilter(query),
  descending: parseSort(query, ['name']).descending,
});

import { listOf, orderOf, parameter, type Query } from '#json-api';
import { SORTS, type WorkspaceFilter } from './workspace-lists.queries.js';

/** `filter[tagged][i][key]` with its `[value]`, at any index. */
const taggedOf = (query: Query): WorkspaceFilter['tagged'] =>
  Object.keys(query).flatMap((name) => {
    const index = /^filter\[tagged\]\[(\d+)\]\[key\]$/.exec(name)?.[1];
    const key = parameter(query, name);
    if (index === undefined || !key) return [];
    return [{ key, value: parameter(query, `filter[tagged][${index}][value]`) }];
  });

/** The query parameters of the list of workspaces (contract §4.3). */
export const filterOf = (query: Query): WorkspaceFilter => ({
  name: parameter(query, 'search[name]'),
  wildcard: parameter(query, 'search[wildcard-name]'),
  tags: listOf(query, 'search[tags]'),
  excludeTags: listOf(query, 'search[exclude-tags]'),
  project: parameter(query, 'filter[project][id]'),
  tagged: taggedOf(query),
  currentRunStatuses: listOf(query, 'filter[current-run][status]'),
  ...orderOf(query, SORTS),
});

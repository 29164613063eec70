import { listOf, orderOf, parameter, type Query } from '#json-api';
import { taggedIn } from '#tag-bindings';
import { SORTS, type WorkspaceFilter } from './workspace-lists.queries.js';

/** Each once: what is asked for a thousand times is looked up as often. */
const unique = <T>(wanted: readonly T[]): readonly T[] => [
  ...new Map(wanted.map((one) => [JSON.stringify(one), one])).values(),
];

/** Everything matches `*`: not worth a condition, nor a count. */
const wildcardOf = (query: Query): string | undefined => {
  const wildcard = parameter(query, 'search[wildcard-name]');
  return wildcard && /^\*+$/.test(wildcard) ? undefined : wildcard;
};

/** The query parameters of the list of workspaces (contract §4.3). */
export const filterOf = (query: Query): WorkspaceFilter => ({
  name: parameter(query, 'search[name]'),
  wildcard: wildcardOf(query),
  tags: unique(listOf(query, 'search[tags]')),
  tagged: unique(taggedIn(query)),
  excludeTags: listOf(query, 'search[exclude-tags]'),
  project: parameter(query, 'filter[project][id]'),
  currentRunStatuses: listOf(query, 'filter[current-run][status]'),
  ...orderOf(query, SORTS),
});

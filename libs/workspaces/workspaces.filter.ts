import { listOf, orderOf, parameter, type Query } from '#json-api';
import { taggedIn, type Tagged } from '#tag-bindings';
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

/**
 * Returns the keys of `search[tags]` that `filter[tagged]` does not name too. For `tags = { key = "value" }` in a `cloud`
 * block, terraform sends the keys in both, for servers that do not know `filter[tagged]`. `search[tags]` finds only tags of
 * the workspace itself, so the list would not have workspaces that inherit one from their project.
 */
const tagsIn = (query: Query, tagged: readonly Tagged[]): readonly string[] =>
  unique(listOf(query, 'search[tags]')).filter((tag) => !tagged.some(({ key }) => key === tag));

/** The query parameters of the list of workspaces (contract §4.3). */
export const filterOf = (query: Query): WorkspaceFilter => {
  const tagged = unique(taggedIn(query));
  return {
    name: parameter(query, 'search[name]'),
    wildcard: wildcardOf(query),
    tags: tagsIn(query, tagged),
    tagged,
    excludeTags: listOf(query, 'search[exclude-tags]'),
    project: parameter(query, 'filter[project][id]'),
    currentRunStatuses: listOf(query, 'filter[current-run][status]'),
    ...orderOf(query, SORTS),
  };
};

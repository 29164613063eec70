import { badRequest } from '#platform/kernel';
import { getListParameter, parseSort, getParameter, parseTimeParameter, type QueryParameters } from '#api/json-api';
import { parseTagFilter, TAG_FILTERS, type TagFilterTerm } from '#organizations/tag-bindings';
import { SORTS, type WorkspaceFilter } from './workspace-lists.queries.js';

/** The filters of the list of workspaces. */
export const WORKSPACE_FILTERS = [
  'search[name]',
  'search[wildcard-name]',
  'search[tags]',
  'search[exclude-tags]',
  ...TAG_FILTERS,
  'filter[project][id]',
  'filter[ssh-key][id]',
  'filter[changed-since]',
  'filter[id]',
  'filter[tag-gaps]',
  'filter[locked]',
  'filter[current-run][status]',
];

/** Removes duplicates: otherwise a term that a request repeats a thousand times would be looked up as often. */
const deduplicate = <T>(terms: readonly T[]): readonly T[] => [
  ...new Map(terms.map((one) => [JSON.stringify(one), one])).values(),
];

/** `*` matches everything, so it needs neither a condition nor a count. */
const parseWildcard = (query: QueryParameters): string | undefined => {
  const wildcard = getParameter(query, 'search[wildcard-name]');
  return wildcard && /^\*+$/.test(wildcard) ? undefined : wildcard;
};

/**
 * Returns the keys of `search[tags]` that `filter[tagged]` does not name too. For `tags = { key = "value" }` in a
 * `cloud` block, terraform sends the keys in both, for servers that do not know `filter[tagged]`. `search[tags]` finds
 * only tags of the workspace itself, so the list would not have workspaces that inherit one from their project.
 */
const tagsIn = (query: QueryParameters, tagged: readonly TagFilterTerm[]): readonly string[] =>
  deduplicate(getListParameter(query, 'search[tags]')).filter((tag) => !tagged.some(({ key }) => key === tag));

/** The only value. Without the parameter, the list also has the other workspaces. */
export const TAG_GAPS = 'true';

const parseTagGaps = (query: QueryParameters): boolean => {
  const name = 'filter[tag-gaps]';
  const value = getParameter(query, name) || undefined;
  if (value === undefined || value === TAG_GAPS) return value !== undefined;
  throw badRequest(`${name}: must be ${TAG_GAPS}, got "${value}"`, name);
};

export const LOCK_STATES = ['true', 'false'] as const;

const parseLocked = (query: QueryParameters): boolean | undefined => {
  const name = 'filter[locked]';
  const value = getParameter(query, name) || undefined;
  const state = LOCK_STATES.find((each) => each === value);
  if (state === undefined && value !== undefined)
    throw badRequest(`${name}: must be true or false, got "${value}"`, name);
  return state === undefined ? undefined : state === 'true';
};

/** Parses the query parameters of the list of workspaces. */
export const parseWorkspaceFilter = (query: QueryParameters): WorkspaceFilter => {
  const tagged = deduplicate(parseTagFilter(query));
  return {
    name: getParameter(query, 'search[name]'),
    wildcard: parseWildcard(query),
    tags: tagsIn(query, tagged),
    tagged,
    excludeTags: getListParameter(query, 'search[exclude-tags]'),
    project: getParameter(query, 'filter[project][id]'),
    sshKey: getParameter(query, 'filter[ssh-key][id]'),
    changedSince: parseTimeParameter(query, 'filter[changed-since]'),
    ids: deduplicate(getListParameter(query, 'filter[id]')),
    tagGaps: parseTagGaps(query),
    locked: parseLocked(query),
    currentRunStatuses: getListParameter(query, 'filter[current-run][status]'),
    ...parseSort(query, SORTS),
  };
};

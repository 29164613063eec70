import { badRequest } from '#kernel';
import { listOf, orderOf, parameter, type Query } from '#json-api';
import { SORTS, type WorkspaceFilter } from './workspace-lists.queries.js';

/**
 * `filter[tagged][i][key]` with its `[value]`, at any index; an empty or missing value means any. A value without a key
 * says nothing that could be looked for: who sent it must not take everything for what they asked for.
 */
const taggedOf = (query: Query): WorkspaceFilter['tagged'] =>
  Object.keys(query).flatMap((name) => {
    const [, index, member] = /^filter\[tagged\]\[(\d+)\]\[(key|value)\]$/.exec(name) ?? [];
    if (index === undefined) return [];
    const keyName = `filter[tagged][${index}][key]`;
    const key = parameter(query, keyName);
    const value = parameter(query, `filter[tagged][${index}][value]`) || null;
    if (!key && value !== null) throw badRequest(`${keyName} is required beside a value`, keyName);
    return key && member === 'key' ? [{ key, value }] : [];
  });

/** Each once: what is asked for a thousand times is looked up as often. */
const unique = (tagged: WorkspaceFilter['tagged']): WorkspaceFilter['tagged'] => [
  ...new Map(tagged.map((tag) => [JSON.stringify([tag.key, tag.value]), tag])).values(),
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
  tagged: unique([...listOf(query, 'search[tags]').map((key) => ({ key, value: null })), ...taggedOf(query)]),
  excludeTags: listOf(query, 'search[exclude-tags]'),
  project: parameter(query, 'filter[project][id]'),
  currentRunStatuses: listOf(query, 'filter[current-run][status]'),
  ...orderOf(query, SORTS),
});

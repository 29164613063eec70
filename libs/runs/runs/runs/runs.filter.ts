import { badRequest, formatTimestamp } from '#platform/kernel';
import { getListParameter, getParameter, parseTimeParameter, type QueryParameters } from '#api/json-api';
import { STATUS_GROUPS } from './run-status.js';
import type { RunFilter } from './run-lists.queries.js';

/** The filters of lists of runs. */
export const RUN_FILTERS = [
  'filter[status]',
  'filter[status_group]',
  'filter[operation]',
  'filter[source]',
  'filter[agent_pool_names]',
  'filter[workspace_names]',
  'filter[timeframe]',
  'filter[waits-for]',
  'filter[created-since]',
  'filter[created-before]',
  'search[user]',
  'search[commit]',
  'search[basic]',
];

/** Returns null if the filter is absent: an empty list would match nothing. */
const getNonEmptyList = (query: QueryParameters, name: string): readonly string[] | null => {
  const values = getListParameter(query, name);
  return values.length > 0 ? values : null;
};

/** Values of `filter[waits-for]`. */
export const DECIDERS = ['me', 'others'] as const;

const parseDecider = (query: QueryParameters): RunFilter['waitsFor'] => {
  const name = 'filter[waits-for]';
  const text = getParameter(query, name);
  if (!text) return null;
  const decider = DECIDERS.find((each) => each === text);
  if (!decider) throw badRequest(`${name}: must be one of ${DECIDERS.join(', ')}, got "${text}"`, name);
  return decider;
};

/** Own properties only: `constructor` is not a group. */
const isStatusGroup = (text: string): text is keyof typeof STATUS_GROUPS => Object.hasOwn(STATUS_GROUPS, text);

/** Statuses and groups form one condition; if a request has both, a run must match both. */
const parseStatuses = (query: QueryParameters): readonly string[] | null => {
  const statuses = getNonEmptyList(query, 'filter[status]');
  const groups = getNonEmptyList(query, 'filter[status_group]');
  if (groups === null) return statuses;
  const grouped: readonly string[] = groups.flatMap((group) => {
    if (isStatusGroup(group)) return STATUS_GROUPS[group];
    const groups = Object.keys(STATUS_GROUPS).join(', ');
    throw badRequest(`filter[status_group] must be one of ${groups}`, 'filter[status_group]');
  });
  return statuses ? statuses.filter((status) => grouped.includes(status)) : grouped;
};

/** `year` is the last twelve months; four digits are that calendar year. */
const parseTimeframe = (query: QueryParameters, now: Date): RunFilter['timeframe'] => {
  const text = getParameter(query, 'filter[timeframe]');
  if (!text) return null;
  const from = new Date(now);
  if (text === 'year') {
    from.setUTCFullYear(now.getUTCFullYear() - 1);
    return { from: from.toISOString(), to: new Date(now.getTime() + 1).toISOString() };
  }
  if (!/^[1-9]\d{3}$/.test(text)) {
    throw badRequest('filter[timeframe] must be year, or a year of four digits', 'filter[timeframe]');
  }
  const year = Number(text);
  return { from: new Date(Date.UTC(year, 0)).toISOString(), to: formatTimestamp(Date.UTC(year + 1, 0)) };
};

/** Parses the query parameters of lists of runs. */
export const parseRunFilter = (query: QueryParameters, now: Date): RunFilter => ({
  statuses: parseStatuses(query),
  operations: getNonEmptyList(query, 'filter[operation]'),
  sources: getNonEmptyList(query, 'filter[source]'),
  agentPools: getNonEmptyList(query, 'filter[agent_pool_names]'),
  workspaces: getNonEmptyList(query, 'filter[workspace_names]'),
  waitsFor: parseDecider(query),
  timeframe: parseTimeframe(query, now),
  createdSince: parseTimeParameter(query, 'filter[created-since]'),
  createdBefore: parseTimeParameter(query, 'filter[created-before]'),
  user: getParameter(query, 'search[user]'),
  commit: getParameter(query, 'search[commit]'),
  basic: getParameter(query, 'search[basic]'),
});

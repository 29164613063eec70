import { badRequest, timestampOf } from '#kernel';
import { listOf, parameter, type Query } from '#json-api';
import { STATUS_GROUPS } from './run-status.js';
import type { RunFilter } from './run-lists.queries.js';

/** Null where nothing is asked for: an empty list would find nothing. */
const someOf = (query: Query, name: string): readonly string[] | null => {
  const values = listOf(query, name);
  return values.length > 0 ? values : null;
};

/** Own members only: `constructor` is no group. */
const isStatusGroup = (text: string): text is keyof typeof STATUS_GROUPS => Object.hasOwn(STATUS_GROUPS, text);

/** Statuses and groups of them are one condition: those that are in both where both are given. */
const statusesOf = (query: Query): readonly string[] | null => {
  const statuses = someOf(query, 'filter[status]');
  const groups = someOf(query, 'filter[status_group]');
  if (groups === null) return statuses;
  const grouped: readonly string[] = groups.flatMap((group) => {
    if (isStatusGroup(group)) return STATUS_GROUPS[group];
    const known = Object.keys(STATUS_GROUPS).join(', ');
    throw badRequest(`filter[status_group] must be one of ${known}`, 'filter[status_group]');
  });
  return statuses ? statuses.filter((status) => grouped.includes(status)) : grouped;
};

/** `year` is the year up to now; four digits are that year. */
const timeframeOf = (query: Query, now: Date): RunFilter['created'] => {
  const text = parameter(query, 'filter[timeframe]');
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
  return { from: new Date(Date.UTC(year, 0)).toISOString(), to: timestampOf(Date.UTC(year + 1, 0)) };
};

/** The query parameters of lists of runs. */
export const filterOf = (query: Query, now: Date): RunFilter => ({
  statuses: statusesOf(query),
  operations: someOf(query, 'filter[operation]'),
  sources: someOf(query, 'filter[source]'),
  agentPools: someOf(query, 'filter[agent_pool_names]'),
  workspaces: someOf(query, 'filter[workspace_names]'),
  created: timeframeOf(query, now),
  user: parameter(query, 'search[user]'),
  commit: parameter(query, 'search[commit]'),
  basic: parameter(query, 'search[basic]'),
});

import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';
import { runsKey } from './runs.js';

type Statistics = ApiResource<'RunStatistics'>;
export type RunDay = Statistics['attributes']['days'][number];

/** The zone of the reader. Days begin at midnight there. */
export const getTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const toQuery = (days: number) => ({ 'filter[days]': days, 'filter[time-zone]': getTimeZone() });

/** The runs of the last days that the person may read, by day and result. */
export const organizationRunDaysQuery = (organization: string, days: number) =>
  queryOptions({
    queryKey: [...runsKey(organization), 'days', days],
    queryFn: async ({ signal }): Promise<readonly RunDay[]> => {
      const params = { path: { organization }, query: toQuery(days) };
      const path = '/api/v2/organizations/{organization}/run-statistics';
      return (await readData(api.GET(path, { params, signal }))).attributes.days;
    },
  });

/** The runs of a workspace of the last days, by day and result. */
export const workspaceRunDaysQuery = (organization: string, workspace: string, days: number) =>
  queryOptions({
    queryKey: [...runsKey(organization), 'days', days, workspace],
    queryFn: async ({ signal }): Promise<readonly RunDay[]> => {
      const params = { path: { id: workspace }, query: toQuery(days) };
      return (await readData(api.GET('/api/v2/workspaces/{id}/run-statistics', { params, signal }))).attributes.days;
    },
  });

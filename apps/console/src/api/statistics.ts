import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';
import { ONCE } from './once.js';
import { organizationKey } from './organizations.js';
import { runsKey } from './runs.js';

type Statistics = ApiResource<'RunStatistics'>;
export type RunDayCounts = Statistics['attributes']['days'][number];

/** The zone of the reader. Days begin at midnight there. */
const getTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Counting reads many rows, and live messages come often in a large organization. So numbers are read when a picture opens,
 * and not after each change.
 */
const COUNTED = { ...ONCE, refetchOnMount: 'always' } as const;

const toQuery = (days: number) => ({ 'filter[days]': days, 'filter[time-zone]': getTimeZone() });

/** The runs of the last days that the person may read, by day and result. */
export const organizationRunDaysQuery = (organization: string, days: number) =>
  queryOptions({
    ...COUNTED,
    queryKey: [...runsKey(organization), 'days', days],
    queryFn: async ({ signal }): Promise<readonly RunDayCounts[]> => {
      const params = { path: { organization }, query: toQuery(days) };
      const path = '/api/v2/organizations/{organization}/run-statistics';
      return (await readData(api.GET(path, { params, signal }))).attributes.days;
    },
  });

/** The runs of a workspace of the last days, by day and result. */
export const workspaceRunDaysQuery = (organization: string, workspace: string, days: number) =>
  queryOptions({
    ...COUNTED,
    queryKey: [...runsKey(organization), 'days', days, workspace],
    queryFn: async ({ signal }): Promise<readonly RunDayCounts[]> => {
      const params = { path: { id: workspace }, query: toQuery(days) };
      return (await readData(api.GET('/api/v2/workspaces/{id}/run-statistics', { params, signal }))).attributes.days;
    },
  });

export type ResourceType = { readonly provider: string; readonly type: string; readonly resources: number };

/** The resources in the current states that the person may read, by provider and type, the most first. */
export const resourceStatisticsQuery = (organization: string) =>
  queryOptions({
    ...COUNTED,
    queryKey: [...organizationKey(organization), 'workspaces', 'resource-types'],
    queryFn: async ({ signal }) => {
      const params = { path: { organization } };
      const path = '/api/v2/organizations/{organization}/resource-statistics';
      const { attributes } = await readData(api.GET(path, { params, signal }));
      return {
        stateCount: attributes['state-count'],
        resourceCount: attributes['resource-count'],
        typeCount: attributes['type-count'],
        types: attributes.types.map(({ provider, type, 'resource-count': resources }): ResourceType => ({
          provider,
          type,
          resources,
        })),
      };
    },
  });

/** The workspaces that the person may read, and those without a value for a reserved tag key, by project. */
export const tagComplianceQuery = (organization: string) =>
  queryOptions({
    ...COUNTED,
    queryKey: [...organizationKey(organization), 'tags', 'compliance'],
    queryFn: async ({ signal }) => {
      const params = { path: { organization } };
      const path = '/api/v2/organizations/{organization}/tag-compliance-statistics';
      const { attributes } = await readData(api.GET(path, { params, signal }));
      return {
        keys: attributes['reserved-key-count'],
        workspaces: attributes['workspace-count'],
        gaps: attributes['gap-count'],
        projectCount: attributes['project-count'],
        projects: attributes.projects.map((project) => ({
          id: project.id,
          name: project.name,
          workspaces: project['workspace-count'],
          gaps: project['gap-count'],
        })),
      };
    },
  });

/** The numbers of entries of the audit trail by day and hour. */
export const trailActivityQuery = (organization: string, days: number) =>
  queryOptions({
    ...COUNTED,
    queryKey: [...organizationKey(organization), 'audit-trail', 'activity', days],
    queryFn: async ({ signal }) => {
      const params = { path: { organization }, query: toQuery(days) };
      const path = '/api/v2/organizations/{organization}/audit-trail-activity';
      return (await readData(api.GET(path, { params, signal }))).attributes.days;
    },
  });

import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { ONCE } from './once.js';
import { runsKey } from './runs.js';

export type TaskResult = ApiResource<'TaskResult'>;
export type ReportedOutcome = ApiResource<'TaskResultOutcome'>;

export const stagesKey = (organization: string, run: string) =>
  [...runsKey(organization), 'one', run, 'task-stages'] as const;

/** The stages of a run in which run tasks and policies decide, with their results. */
export const taskStagesQuery = (organization: string, run: string) =>
  queryOptions({
    queryKey: stagesKey(organization, run),
    queryFn: ({ signal }) => {
      const params = {
        path: { id: run },
        query: { include: ['task_results' as const, 'policy_evaluations' as const] },
      };
      return readDocument(api.GET('/api/v2/runs/{id}/task-stages', { params, signal }));
    },
  });

/** The details of a result, in the order in which the service has reported them. */
export const taskOutcomesQuery = (organization: string, run: string, result: string) =>
  queryOptions({
    queryKey: [...stagesKey(organization, run), 'outcomes', result],
    queryFn: ({ signal }) =>
      readData(api.GET('/api/v2/task-results/{id}/outcomes', { params: { path: { id: result } }, signal })),
  });

/** The text of an outcome as the service has sent it. It never changes. */
export const taskOutcomeTextQuery = (organization: string, run: string, outcome: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...stagesKey(organization, run), 'text', outcome],
    queryFn: ({ signal }) => {
      const params = { path: { id: outcome } };
      return readDocument(api.GET('/api/v2/task-result-outcomes/{id}/body', { params, signal, parseAs: 'text' }));
    },
  });

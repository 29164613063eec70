import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { readAllPages } from './pages.js';
import { runsKey } from './runs.js';
import { stagesKey } from './task-stages.js';
import { useChange } from './use-change.js';

export type EvaluatedPolicies = ApiResource<'PolicyEvaluation'>;
export type EvaluatedPolicySet = ApiResource<'PolicySetOutcome'>;

type OutcomesRequest = {
  readonly organization: string;
  readonly run: string;
  readonly evaluation: EvaluatedPolicies;
};

/** The policy sets of an evaluation with the results of their policies. */
export const policySetOutcomesQuery = ({ organization, run, evaluation: { id, attributes } }: OutcomesRequest) =>
  queryOptions({
    // The results change with the status only.
    queryKey: [...stagesKey(organization, run), 'policy-sets', id, attributes.status],
    queryFn: async ({ signal }): Promise<readonly EvaluatedPolicySet[]> => {
      const pages = await readAllPages((query) => {
        const params = { path: { id }, query };
        return readDocument(api.GET('/api/v2/policy-evaluations/{id}/policy-set-outcomes', { params, signal }));
      });
      return pages.flatMap(({ data }) => data);
    },
  });

/** Lets a run continue whose plan has failed mandatory policies. */
export const useOverridePolicies = (organization: string, stage: string) =>
  useChange({
    mutationFn: (comment: string) => {
      const body = comment === '' ? {} : { comment };
      return requireSuccess(
        api.POST('/api/v2/task-stages/{id}/actions/override', { params: { path: { id: stage } }, body }),
      );
    },
    rereads: runsKey(organization),
  });

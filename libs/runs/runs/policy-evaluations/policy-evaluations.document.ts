import { toMany, toOne, type Resource } from '#api/json-api';
import type { DetailedEvaluation, PolicyEvaluationRow } from './policy-evaluations.queries.js';
import {
  countOutcomes,
  findOutput,
  listOutcomesOfSet,
  type ChosenPolicySet,
  type PolicyCounts,
  type PolicyOutcome,
  type PolicyOutput,
} from './run-policies.js';

const renderCounts = ({ advisoryFailed, mandatoryFailed, passed, errored }: PolicyCounts) => ({
  'advisory-failed': advisoryFailed,
  'mandatory-failed': mandatoryFailed,
  passed,
  errored,
});

export const renderPolicyEvaluation = (row: PolicyEvaluationRow): Resource => ({
  id: row.id,
  type: 'policy-evaluations',
  attributes: {
    'policy-kind': 'opa',
    'policy-tool-version': row.sets[0]?.toolVersion ?? null,
    'result-count': renderCounts(countOutcomes(row.outcomes ?? [])),
    status: row.status,
    'status-timestamps': Object.fromEntries(
      Object.entries(row.reached).map(([status, time]) => [`${status}-at`, time]),
    ),
  },
  relationships: {
    'policy-attachable': toOne('task-stages', row.taskStage, `/api/v2/task-stages/${row.taskStage}`),
    'policy-set-outcomes': toMany(
      'policy-set-outcomes',
      row.sets.map(({ outcome }) => outcome),
    ),
  },
  links: { self: `/api/v2/policy-evaluations/${row.id}` },
});

const NOT_EVALUATED = 'The executor has reported no result: it may be too old for policies';

/** Returns the lines of an outcome: why the policy has not passed, and what it has printed. */
const renderOutput = (
  { policy, status }: PolicyOutcome,
  { toolVersion }: ChosenPolicySet,
  outputs: readonly PolicyOutput[],
) => {
  const { message, printed } = findOutput(outputs, { policy, toolVersion }) ?? { message: NOT_EVALUATED, printed: '' };
  return [...(status === 'passed' ? [] : [message]), ...printed.split('\n')]
    .filter((line) => line !== '')
    .map((print) => ({ print }));
};

/** Renders the outcomes of one policy set. `outputs` is null if they were deleted, or if the caller may not read them. */
export const renderPolicySetOutcome = (
  { evaluation, descriptions }: Pick<DetailedEvaluation, 'evaluation' | 'descriptions'>,
  set: ChosenPolicySet,
  outputs: readonly PolicyOutput[] | null,
): Resource => {
  const outcomes = listOutcomesOfSet(set, evaluation.outcomes ?? []);
  const queries = new Map(set.policies.map(({ policy, query }) => [policy, query]));
  const counts = renderCounts(countOutcomes(outcomes));
  return {
    id: set.outcome,
    type: 'policy-set-outcomes',
    attributes: {
      error: '',
      outcomes: outcomes.map((outcome) => ({
        policy_name: outcome.policyName,
        description: descriptions[outcome.policy] ?? '',
        enforcement_level: outcome.enforcementLevel,
        query: queries.get(outcome.policy) ?? '',
        status: outcome.status,
        output: outputs === null ? [] : renderOutput(outcome, set, outputs),
      })),
      overridable: set.overridable,
      'policy-set-description': descriptions[set.policySet] ?? '',
      'policy-set-name': set.policySetName,
      'policy-tool-version': set.toolVersion,
      'result-count': counts,
      // The name that go-tfe reads.
      result_count: counts,
      warnings: [],
    },
    relationships: {
      'policy-evaluation': toOne('policy-evaluations', evaluation.id, `/api/v2/policy-evaluations/${evaluation.id}`),
    },
    links: { self: `/api/v2/policy-set-outcomes/${set.outcome}` },
  };
};

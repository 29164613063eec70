import { conflict } from '#platform/kernel';
import {
  completeOutcomes,
  concludePolicies,
  type PolicyChoice,
  type PolicyResult,
} from '../policy-evaluations/run-policies.js';
import type { PolicySubject, RunEvent } from './run-event.js';
import type { ExistingRun } from './run-state.js';

const EVALUATED = {
  passed: 'RunPoliciesPassed',
  failed: 'RunPoliciesFailed',
  errored: 'RunPoliciesErrored',
} as const;

/** Returns the event with the results of the policies of a plan that is done; none without policies. */
export const recordPolicyResults = (
  run: ExistingRun,
  reported: readonly PolicyResult[],
  subject: PolicySubject,
): readonly RunEvent[] => {
  const { policies, workspace } = run;
  if (policies === null) return [];
  const outcomes = completeOutcomes(policies, reported);
  const { status } = concludePolicies(policies, outcomes);
  const { evaluation } = policies;
  return [{ type: EVALUATED[status], data: { evaluation, workspace, outcomes, ...subject } }];
};

/** Returns the event with the policies of a plan; none if it has none, and the previous plan of the run had none. */
export const choosePolicies = (run: ExistingRun, choice: PolicyChoice): readonly RunEvent[] =>
  choice.sets.length === 0 && run.policies === null
    ? []
    : [{ type: 'RunPoliciesChosen', data: { workspace: run.workspace, ...choice } }];

/** A process of an earlier release can take the report of a plan without its policies. They have not passed. */
export const concludeUnevaluated = (policies: PolicyChoice) =>
  concludePolicies(policies, completeOutcomes(policies, []));

/** Refuses to confirm a plan that has passed without an evaluation of its mandatory policies. */
export const requireEvaluatedPolicies = ({ policies }: ExistingRun): void => {
  if (policies?.conclusion === null && concludeUnevaluated(policies).status !== 'passed')
    throw conflict('The policies of the plan were not evaluated: discard the run, and plan again');
};

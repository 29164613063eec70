import type { Sql } from '#platform/kernel';
import type { Vault } from '#storage/vault';
import type { RunEvent } from './run-event.js';
import { listOutputs, type PolicyResult } from '../policy-evaluations/run-policies.js';

type EvaluatedEvent = Extract<RunEvent, { type: 'RunPoliciesPassed' | 'RunPoliciesFailed' | 'RunPoliciesErrored' }>;

const isEvaluated = (event: RunEvent): event is EvaluatedEvent =>
  ['RunPoliciesPassed', 'RunPoliciesFailed', 'RunPoliciesErrored'].includes(event.type);

/** Returns the statements that store what the policies of an evaluation have said: no event contains it, and it is deleted with the logs. */
export const storePolicyOutputs = (
  vault: Vault,
  organization: string,
  events: readonly RunEvent[],
  reported: readonly PolicyResult[],
): readonly Sql[] =>
  events
    .filter(isEvaluated)
    .map(({ data: { evaluation, outcomes } }) =>
      vault.storeSecret(evaluation, organization, JSON.stringify(listOutputs(outcomes, reported))),
    );

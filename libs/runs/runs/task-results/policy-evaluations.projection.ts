import {
  sql,
  type OrganizationDeleted,
  type Projection,
  type RecordedEvent,
  type Sql,
  type WorkspaceDeleted,
} from '#platform/kernel';
import type { PolicyOutcome } from '../policy-evaluations/run-policies.js';
import type { PolicyEvaluationEvent } from './policy-evaluations.events.js';

type EvaluationOwnerDeleted = OrganizationDeleted | WorkspaceDeleted;

const conclude =
  (status: 'passed' | 'failed' | 'errored') =>
  (
    { evaluation, outcomes }: { readonly evaluation: string; readonly outcomes: readonly PolicyOutcome[] },
    { time }: RecordedEvent,
  ): Sql => sql`
    update policy_evaluations
       set status = ${status}, outcomes = ${sql.json(outcomes)}, reached = reached || ${sql.json({ [status]: time })}::jsonb
     where id = ${evaluation}`;

/** The evaluations of the policies of plans. A run has at most one, because another plan replaces it. */
export const policyEvaluations: Projection<PolicyEvaluationEvent | EvaluationOwnerDeleted> = {
  name: 'policy_evaluations',
  version: 1,
  tables: ['policy_evaluations'],
  on: {
    RunPoliciesChosen: ({ evaluation, taskStage, sets, workspace }, { stream, organization, time }) => [
      sql`delete from policy_evaluations where run = ${stream}`,
      ...(sets.length === 0
        ? []
        : [
            sql`
      insert into policy_evaluations (id, run, task_stage, workspace, organization, status, reached, sets, outcome_ids)
      values (${evaluation}, ${stream}, ${taskStage}, ${workspace}, ${organization}, 'pending',
              ${sql.json({ pending: time })}, ${sql.json(sets)}, ${sets.map(({ outcome }) => outcome)})`,
          ]),
    ],
    RunPoliciesPassed: conclude('passed'),
    RunPoliciesFailed: conclude('failed'),
    RunPoliciesErrored: conclude('errored'),
    RunPoliciesOverridden: ({ evaluation }, { time }) => sql`
      update policy_evaluations set status = 'overridden', reached = reached || ${sql.json({ overridden: time })}::jsonb
       where id = ${evaluation}`,
    WorkspaceDeleted: (_, { stream }) => sql`delete from policy_evaluations where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from policy_evaluations where organization = ${stream}`,
  },
};

import { z } from 'zod';
import { defineEvents, describePersonalName, type DataOf, type EventKinds, type RecordedEvent } from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';
import { ENFORCEMENT_LEVELS } from '#runs/run-tasks/rules';
import type { RunEvent } from '../runs/run-event.js';
import { POLICY_RESULTS, type ChosenPolicySet, type PolicyOutcome } from '../policy-evaluations/run-policies.js';

export type PolicyEvaluationEvent = Extract<
  RunEvent,
  {
    type:
      'RunPoliciesChosen' | 'RunPoliciesPassed' | 'RunPoliciesFailed' | 'RunPoliciesErrored' | 'RunPoliciesOverridden';
  }
>;

const chosenSet = z.strictObject({
  outcome: z.string(),
  policySet: z.string(),
  policySetName: z.string(),
  overridable: z.boolean(),
  toolVersion: z.string(),
  policies: z.array(
    z.strictObject({
      policy: z.string(),
      policyName: z.string(),
      query: z.string(),
      enforcementLevel: z.enum(ENFORCEMENT_LEVELS),
      sha256: z.string().nullable(),
    }),
  ),
}) satisfies z.ZodType<ChosenPolicySet>;

const policyOutcome = z.strictObject({
  policySet: z.string(),
  policySetName: z.string(),
  policy: z.string(),
  policyName: z.string(),
  enforcementLevel: z.enum(ENFORCEMENT_LEVELS),
  sha256: z.string().nullable(),
  status: z.enum(POLICY_RESULTS),
}) satisfies z.ZodType<PolicyOutcome>;

type Evaluated = DataOf<RunEvent, 'RunPoliciesPassed'>;

/** Returns what the trail says about each policy of each set. */
const listOutcomes = ({ outcomes }: Evaluated) =>
  outcomes.map((outcome) => ({
    policy_set_id: outcome.policySet,
    policy_set: outcome.policySetName,
    policy_id: outcome.policy,
    policy: outcome.policyName,
    policy_digest: outcome.sha256,
    enforcement_level: outcome.enforcementLevel,
    status: outcome.status,
  }));

const evaluated = (action: 'passed' | 'failed' | 'errored') =>
  ({
    schema: z.strictObject({
      evaluation: z.string(),
      workspace: z.string(),
      workspaceName: z.string(),
      runMessage: z.string(),
      outcomes: z.array(policyOutcome),
    }),
    audit: {
      resource: 'policy_evaluation',
      action,
      id: ({ evaluation }: Evaluated) => evaluation,
      meta: (data: Evaluated, { stream }: RecordedEvent) => ({
        comment: null,
        payload: {
          workspace: { id: data.workspace, name: data.workspaceName },
          run: { id: stream, message: data.runMessage },
        },
        actor: 'system',
        outcomes: listOutcomes(data),
      }),
    },
    live: 'changed',
    ids: {
      refersTo: {
        workspace: ['ws'],
        evaluation: ['poleval'],
        'outcomes[].policySet': ['polset'],
        'outcomes[].policy': ['pol'],
      },
    },
  }) as const;

/** The events of the policies of plans. They are in the stream of the run. */
export const policyEvaluationEvents = defineEvents(
  { topic: 'runs', stream: 'run', audited: 'run', live: inWorkspace('runs', 'read-runs') },
  {
    RunPoliciesChosen: {
      schema: z.strictObject({
        workspace: z.string(),
        evaluation: z.string(),
        taskStage: z.string(),
        sets: z.array(chosenSet),
      }),
      audit: { unaudited: 'follows from the read of the job, which has an entry, and from the policy sets' },
      live: 'changed',
      ids: {
        refersTo: { workspace: ['ws'], 'sets[].policySet': ['polset'], 'sets[].policies[].policy': ['pol'] },
        creates: { evaluation: 'poleval', 'sets[].outcome': 'psout' },
      },
    },
    RunPoliciesPassed: evaluated('passed'),
    RunPoliciesFailed: evaluated('failed'),
    RunPoliciesErrored: evaluated('errored'),
    RunPoliciesOverridden: {
      schema: z.strictObject({
        taskStage: z.string(),
        evaluation: z.string(),
        overriddenBy: z.strictObject({ type: z.string(), id: z.string(), name: z.string() }),
        comment: z.string().nullable(),
      }),
      audit: {
        resource: 'task_stage',
        action: 'override',
        id: ({ taskStage }) => taskStage,
        meta: ({ evaluation, comment }, { stream }) => ({ run_id: stream, policy_evaluation_id: evaluation, comment }),
      },
      live: 'changed',
      ids: { refersTo: { evaluation: ['poleval'] } },
      personal: ({ overriddenBy }) => describePersonalName('overriddenBy', overriddenBy),
    },
  },
) satisfies EventKinds<PolicyEvaluationEvent>;

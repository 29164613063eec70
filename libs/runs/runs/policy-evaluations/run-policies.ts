import type { EnforcedPolicy, EnforcedPolicySet } from '#runs/policies/rules';

/** A policy set of a plan, with the version of OPA that evaluates it. */
export type ChosenPolicySet = Omit<EnforcedPolicySet, 'toolVersion'> & {
  /** Id of its outcome, `psout-…`. */
  readonly outcome: string;
  readonly toolVersion: string;
};

/** The policies that a plan must pass, as they are when the executor reads its job. */
export type PolicyChoice = {
  /** `poleval-…` */
  readonly evaluation: string;
  /** Id of the stage after the plan, which has the evaluation. */
  readonly taskStage: string;
  readonly sets: readonly ChosenPolicySet[];
};

export const POLICY_RESULTS = ['passed', 'failed', 'errored'] as const;
type PolicyResultStatus = (typeof POLICY_RESULTS)[number];

/** What an executor reports about a policy and a version of OPA. */
export type PolicyResult = {
  readonly policy: string;
  readonly toolVersion: string;
  readonly status: PolicyResultStatus;
  /** The result of the query as JSON, or why there is none. */
  readonly message: string;
  /** What the policy has printed. */
  readonly printed: string;
};

/** Characters of a message, and of what a policy has printed. */
export const MAX_RESULT_CHARACTERS = 1_000;
/** At most the policies of all policy sets of an organization. */
export const MAX_RESULTS = 300;

/** The result of a policy of a set, without what it says: events contain no outputs of policies. */
export type PolicyOutcome = Pick<ChosenPolicySet, 'policySet' | 'policySetName'> &
  Pick<EnforcedPolicy, 'policy' | 'policyName' | 'enforcementLevel' | 'sha256'> & {
    readonly status: PolicyResultStatus;
  };

/** What the policies of a plan mean for its run. */
type PolicyConclusion =
  | { readonly status: 'passed' }
  | { readonly status: 'failed'; readonly message: string; readonly isOverridable: boolean }
  | { readonly status: 'errored'; readonly message: string };

/** The policies of a run. */
export type RunPolicies = PolicyChoice & {
  /** Null until the plan is done. After it, there are no sets any more. */
  readonly conclusion: PolicyConclusion | null;
};

type ReportedPolicy = Pick<PolicyResult, 'policy' | 'toolVersion'>;

const toResultKey = ({ policy, toolVersion }: ReportedPolicy): string => `${policy} ${toolVersion}`;

/** Returns the outcome of each policy of each set. A policy without a result has not passed. */
export const completeOutcomes = (
  { sets }: Pick<PolicyChoice, 'sets'>,
  reported: readonly PolicyResult[],
): readonly PolicyOutcome[] => {
  const statuses = new Map(reported.map((result) => [toResultKey(result), result.status]));
  return sets.flatMap(({ policySet, policySetName, toolVersion, policies }) =>
    policies.map(({ policy, policyName, enforcementLevel, sha256 }) => ({
      policySet,
      policySetName,
      policy,
      policyName,
      enforcementLevel,
      sha256,
      status: statuses.get(toResultKey({ policy, toolVersion })) ?? 'errored',
    })),
  );
};

/** Returns what the policies mean for the run. Only mandatory policies decide: advisory ones never stop a run. */
export const concludePolicies = (
  { sets }: Pick<PolicyChoice, 'sets'>,
  outcomes: readonly PolicyOutcome[],
): PolicyConclusion => {
  const mandatory = outcomes.filter(({ enforcementLevel }) => enforcementLevel === 'mandatory');
  const errored = mandatory.find(({ status }) => status === 'errored');
  if (errored)
    return {
      status: 'errored',
      message: `The mandatory policy ${errored.policyName} of the policy set ${errored.policySetName} could not be evaluated`,
    };
  const failed = mandatory.filter(({ status }) => status === 'failed');
  const [first] = failed;
  if (!first) return { status: 'passed' };
  const overridable = new Set(sets.filter((set) => set.overridable).map(({ policySet }) => policySet));
  return {
    status: 'failed',
    message: `The mandatory policy ${first.policyName} of the policy set ${first.policySetName} failed`,
    isOverridable: failed.every(({ policySet }) => overridable.has(policySet)),
  };
};

/** The numbers of results that clients show. */
export type PolicyCounts = Readonly<Record<'advisoryFailed' | 'mandatoryFailed' | 'passed' | 'errored', number>>;

const toCountKey = ({ status, enforcementLevel }: PolicyOutcome): keyof PolicyCounts =>
  status === 'failed' ? `${enforcementLevel}Failed` : status;

/** Returns the number of outcomes by result. */
export const countOutcomes = (outcomes: readonly PolicyOutcome[]): PolicyCounts => {
  const counts = { advisoryFailed: 0, mandatoryFailed: 0, passed: 0, errored: 0 };
  for (const outcome of outcomes) counts[toCountKey(outcome)] += 1;
  return counts;
};

/** What a policy has said. Secrets of the plan can be in it, so that it is stored beside the log. */
export type PolicyOutput = Omit<PolicyResult, 'status'>;

/** Returns what the evaluated policies have said, each once for each version of OPA. */
export const listOutputs = (
  outcomes: readonly PolicyOutcome[],
  reported: readonly PolicyResult[],
): readonly PolicyOutput[] => {
  const evaluated = new Set(outcomes.map(({ policy }) => policy));
  const results = new Map(reported.map((result) => [toResultKey(result), result]));
  return [...results.values()]
    .filter(({ policy }) => evaluated.has(policy))
    .map(({ status: _status, ...output }) => output);
};

/** Returns what a policy of a set has said; null if the executor has reported nothing about it. */
export const findOutput = (outputs: readonly PolicyOutput[], key: ReportedPolicy): PolicyOutput | null =>
  outputs.find((output) => toResultKey(output) === toResultKey(key)) ?? null;

/** Returns the outcomes of a set, in the order of its policies. */
export const listOutcomesOfSet = (
  { policySet }: Pick<ChosenPolicySet, 'policySet'>,
  outcomes: readonly PolicyOutcome[],
): readonly PolicyOutcome[] => outcomes.filter((outcome) => outcome.policySet === policySet);

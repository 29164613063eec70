import { resolveEffectiveVariables, type VariableCandidate } from '#workspaces/variables/rules';

/** A variable of terraform. The value is an HCL expression if `hcl` is true, else a text. */
type TerraformValue = {
  readonly key: string;
  readonly value: string;
  readonly hcl: boolean;
  readonly sensitive: boolean;
};

export type EnvironmentValue = Omit<TerraformValue, 'hcl'>;

/** The values that people have set for a run. */
export type JobValues = {
  readonly variables: readonly TerraformValue[];
  readonly environment: readonly EnvironmentValue[];
};

/** The bytes of all values that may apply to a run. The server and the executor keep them in memory. */
export const MAX_JOB_VALUE_BYTES = 16 * 1_024 * 1_024;

/** A variable that may apply to a run. `readValue` decrypts the value. */
type JobCandidate = VariableCandidate &
  Pick<TerraformValue, 'hcl' | 'sensitive'> & { readonly readValue: () => string };

/** Returns the value of each key. `runVariables`: the variables that the request of the run has set. */
export const resolveJobValues = (
  candidates: readonly JobCandidate[],
  runVariables: readonly { readonly key: string; readonly value: string }[],
): JobValues => {
  // Values of a run are HCL expressions.
  const runCandidates = runVariables.map(({ key, value }): JobCandidate => ({
    key,
    category: 'terraform',
    hcl: true,
    sensitive: false,
    source: 'run',
    readValue: () => value,
  }));
  const effective = resolveEffectiveVariables([...runCandidates, ...candidates]);
  return {
    variables: effective
      .filter(({ category }) => category === 'terraform')
      .map(({ key, hcl, sensitive, readValue }) => ({ key, value: readValue(), hcl, sensitive })),
    environment: effective
      .filter(({ category }) => category === 'env')
      .map(({ key, sensitive, readValue }) => ({ key, value: readValue(), sensitive })),
  };
};

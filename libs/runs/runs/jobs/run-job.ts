import { resolveEffectiveVariables, type VariableCandidate } from '#workspaces/variables/rules';

/** A variable of terraform. The value is an HCL expression if `hcl` is true, else a text. */
type TerraformValue = {
  readonly key: string;
  readonly value: string;
  readonly hcl: boolean;
  readonly sensitive: boolean;
};

type EnvironmentValue = Omit<TerraformValue, 'hcl'>;

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

/** Returns the value of each key: of the run itself, of its workspace or of a set. */
export const resolveJobValues = (
  candidates: readonly JobCandidate[],
  ofRun: readonly { readonly key: string; readonly value: string }[],
): JobValues => {
  // Values of a run are HCL expressions.
  const ofRunItself = ofRun.map(({ key, value }): JobCandidate => ({
    key,
    category: 'terraform',
    hcl: true,
    sensitive: false,
    source: 'run',
    readValue: () => value,
  }));
  const effective = resolveEffectiveVariables([...ofRunItself, ...candidates]);
  return {
    variables: effective
      .filter(({ category }) => category === 'terraform')
      .map(({ key, hcl, sensitive, readValue }) => ({ key, value: readValue(), hcl, sensitive })),
    environment: effective
      .filter(({ category }) => category === 'env')
      .map(({ key, sensitive, readValue }) => ({ key, value: readValue(), sensitive })),
  };
};

/** What the environment says about the run. */
type RunNames = {
  readonly run: string;
  readonly workspace: string;
  readonly workspaceName: string;
  readonly projectName: string;
  readonly organizationName: string;
  /** Origin of the server. */
  readonly address: string;
};

/**
 * Returns the environment of the vendor's runs
 * (https://developer.hashicorp.com/terraform/cloud-docs/run/run-environment), also as input variables, for configurations
 * that declare them.
 */
const describeRun = (names: RunNames): Readonly<Record<string, string>> => {
  const slug = `${names.organizationName}/${names.workspaceName}`;
  const environment = {
    TFC_RUN_ID: names.run,
    TFC_WORKSPACE_ID: names.workspace,
    TFC_WORKSPACE_NAME: names.workspaceName,
    TFC_WORKSPACE_SLUG: slug,
    TFC_PROJECT_NAME: names.projectName,
    ATLAS_ADDRESS: names.address,
    ATLAS_RUN_ID: names.run,
    ATLAS_WORKSPACE_NAME: names.workspaceName,
    ATLAS_WORKSPACE_SLUG: slug,
  };
  const inputs = Object.entries(environment).map(([key, value]) => [`TF_VAR_${key}`, value] as const);
  // With this one, terraform and tofu name the run in the states that they upload.
  return { ...environment, ...Object.fromEntries(inputs), TFE_RUN_ID: names.run };
};

/** Returns the environment of a run: what people have set, and what describes the run, which nobody can replace. */
export const buildJobEnvironment = (
  ofPeople: readonly EnvironmentValue[],
  names: RunNames,
): readonly EnvironmentValue[] => {
  const ofServer = describeRun(names);
  return [
    ...ofPeople.filter(({ key }) => !Object.hasOwn(ofServer, key)),
    ...Object.entries(ofServer).map(([key, value]) => ({ key, value, sensitive: false })),
  ];
};

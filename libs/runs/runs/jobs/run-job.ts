import type { EnvironmentValue } from '../job-values/job-values.js';

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

/** Returns the environment of a run: its variables, and what describes the run, which no variable can replace. */
export const buildJobEnvironment = (
  variables: readonly EnvironmentValue[],
  names: RunNames,
): readonly EnvironmentValue[] => {
  const description = describeRun(names);
  return [
    ...variables.filter(({ key }) => !Object.hasOwn(description, key)),
    ...Object.entries(description).map(([key, value]) => ({ key, value, sensitive: false })),
  ];
};

import type { PhaseName } from '../runs/phases.js';

/** What the token of a run says about it. */
export type IdentityOfRun = {
  readonly run: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly project: string;
  readonly projectName: string;
  readonly workspace: string;
  readonly workspaceName: string;
};

/**
 * Returns the claims of the vendor, so that trust policies of clouds need only another issuer.
 *
 * @see https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens
 */
export const buildRunClaims = (of: IdentityOfRun, phase: PhaseName) => {
  const fullWorkspace = `organization:${of.organizationName}:project:${of.projectName}:workspace:${of.workspaceName}`;
  return {
    sub: `${fullWorkspace}:run_phase:${phase}`,
    terraform_full_workspace: fullWorkspace,
    terraform_organization_id: of.organization,
    terraform_organization_name: of.organizationName,
    terraform_project_id: of.project,
    terraform_project_name: of.projectName,
    terraform_run_id: of.run,
    terraform_run_phase: phase,
    terraform_workspace_id: of.workspace,
    terraform_workspace_name: of.workspaceName,
  };
};

import { chooseLinkOrigin, type Actor } from '#api/access';
import type { Resource } from '#api/json-api';
import { getTimeLimitSeconds } from '#organizations/general-settings';
import { SNAPSHOT_INTERVAL_SECONDS } from '#workspaces/state';
import { findOpaRelease, findToolOfVersion } from '#workspaces/workspaces';
import type { ConfigurationLinks } from '../configuration-versions/configuration-version.links.js';
import type { PlanFileLinks } from '../plan-files/plan-files.links.js';
import { buildJobEnvironment } from './run-job.js';
import type { RunForJob } from './run-jobs.queries.js';
import type { RunJob } from './run-jobs.service.js';

/** Returns the tool of the run: its version, and what administrators of the site say about the version. */
const renderTool = ({ options: { terraformVersion: version }, toolVersion }: RunForJob) => {
  const reason = toolVersion?.deprecatedReason ?? null;
  const warning = `Version ${version} is deprecated on this site${reason === null ? '' : `: ${reason}`}`;
  return {
    'iac-tool': findToolOfVersion(version),
    'terraform-version': version,
    'terraform-version-archives': toolVersion?.archs ?? [],
    'terraform-version-warning': toolVersion?.deprecated ? warning : null,
  };
};

const renderJobPolicy = ({ policy, toolVersion }: RunJob['policies'][number]) => ({
  id: policy.policy,
  name: policy.policyName,
  query: policy.query,
  'text-sha256': policy.sha256,
  'opa-version': toolVersion,
});

const renderOpaVersion = (version: string, { siteOpaReleases }: RunForJob) => ({
  version,
  archives: findOpaRelease(version, siteOpaReleases)?.settings.archs ?? [],
  'is-site-release': siteOpaReleases.some((release) => release.version === version),
});

/** Returns the member `run` of the input of policies, without the variables, in the vendor's names. */
const renderPolicyInput = (run: RunForJob) => ({
  id: run.id,
  created_at: run.createdAt,
  created_by: run.createdBy.name,
  message: run.message,
  commit_sha: run.commitSha,
  is_destroy: run.options.isDestroy,
  refresh: run.options.refresh,
  refresh_only: run.options.refreshOnly,
  replace_addrs: run.options.replaceAddrs,
  target_addrs: run.options.targetAddrs,
  speculative: run.options.planOnly,
  project: { id: run.project, name: run.projectName },
  organization: { name: run.organizationName },
  workspace: {
    id: run.workspace,
    name: run.workspaceName,
    created_at: run.workspaceFacts.createdAt,
    description: run.workspaceFacts.description,
    execution_mode: run.workspaceFacts.executionMode,
    auto_apply: run.workspaceFacts.autoApply,
    tags: run.workspaceFacts.tags,
    working_directory: run.workingDirectory,
    vcs_repo: run.workspaceFacts.vcsRepo,
  },
});

/** Returns the programs of the phase, and the policies that OPA evaluates. */
const renderPrograms = ({ policies, policyTexts, run }: RunJob) => ({
  ...renderTool(run),
  'opa-versions': [...new Set(policies.map(({ toolVersion }) => toolVersion))].map((one) => renderOpaVersion(one, run)),
  policies: policies.map(renderJobPolicy),
  'policy-input': policies.length > 0 ? renderPolicyInput(run) : null,
  'policy-texts': Object.fromEntries(policyTexts),
});

/** Renders jobs with the addresses of their files. */
export class RunJobRenderer {
  constructor(
    private readonly publicUrl: string,
    private readonly configurations: ConfigurationLinks,
    private readonly planFiles: PlanFileLinks,
  ) {}

  resource(job: RunJob, actor: Actor): Resource {
    const { run, phase, fence, values } = job;
    const { options, organizationName, projectName, stateVersion, workspaceName } = run;
    const origin = chooseLinkOrigin(actor, this.publicUrl);
    const names = { run: run.id, workspace: run.workspace, workspaceName, projectName, organizationName };
    return {
      id: run.id,
      type: 'run-jobs',
      attributes: {
        'allow-config-generation': options.allowConfigGeneration,
        'configuration-download-url': this.configurations.download(run.configurationVersion, actor),
        'configuration-version-id': run.configurationVersion,
        environment: buildJobEnvironment(values.environment, { ...names, address: this.publicUrl }),
        fence,
        'invoke-action-addrs': options.invokeActionAddrs,
        'is-destroy': options.isDestroy,
        'organization-name': organizationName,
        phase,
        'plan-file-url':
          phase === 'apply' && run.planFence !== null ? this.planFiles.urlOf(run.id, fence, actor) : null,
        'project-name': projectName,
        'public-url': this.publicUrl,
        refresh: options.refresh,
        'refresh-only': options.refreshOnly,
        'replace-addrs': options.replaceAddrs,
        'run-token': job.token,
        'snapshot-interval-seconds': SNAPSHOT_INTERVAL_SECONDS,
        'ssh-key': job.sshKey,
        'state-download-url': stateVersion && `${origin}/api/v2/state-versions/${stateVersion}/download`,
        'structured-run-output-enabled': run.structuredRunOutput,
        'target-addrs': options.targetAddrs,
        ...renderPrograms(job),
        'time-limit-seconds': getTimeLimitSeconds(phase, run.timeLimits[phase]),
        variables: values.variables,
        'working-directory': run.workingDirectory,
        'workspace-id': run.workspace,
        'workspace-name': workspaceName,
      },
    };
  }
}

import { chooseLinkOrigin, type Actor } from '#api/access';
import type { Resource } from '#api/json-api';
import { getTimeLimitSeconds } from '#organizations/general-settings';
import { SNAPSHOT_INTERVAL_SECONDS } from '#workspaces/state';
import { findToolOfVersion } from '#workspaces/workspaces';
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

/** Renders jobs with the addresses of their files. */
export class RunJobRenderer {
  constructor(
    private readonly publicUrl: string,
    private readonly configurations: ConfigurationLinks,
    private readonly planFiles: PlanFileLinks,
  ) {}

  resource({ run, phase, fence, values, sshKey, token }: RunJob, actor: Actor): Resource {
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
        'run-token': token,
        'snapshot-interval-seconds': SNAPSHOT_INTERVAL_SECONDS,
        'ssh-key': sshKey,
        'state-download-url': stateVersion && `${origin}/api/v2/state-versions/${stateVersion}/download`,
        'structured-run-output-enabled': run.structuredRunOutput,
        'target-addrs': options.targetAddrs,
        ...renderTool(run),
        'time-limit-seconds': getTimeLimitSeconds(phase, run.timeLimits[phase]),
        variables: values.variables,
        'working-directory': run.workingDirectory,
        'workspace-id': run.workspace,
        'workspace-name': workspaceName,
      },
    };
  }
}

import type { TaskRequest } from '#runs/run-tasks';
import type { ConfigurationLinks } from '../configuration-versions/configuration-version.links.js';
import type { PlanDocumentLinks } from '../plan-documents/plan-documents.links.js';
import { TASK_RECIPIENT } from '../runs/recipient.links.js';
import type { DueTaskRequest } from './task-requests.queries.js';
import type { TaskTokens } from './task-tokens.links.js';

/** As long as the token of the request. */
const LINK_LIFETIME_MS = 70 * 60_000;

/** Renders the requests to the services of run tasks. The links in them need no token, and work only as long as the service may. */
export class TaskRequestRenderer {
  constructor(
    private readonly publicUrl: string,
    private readonly tokens: TaskTokens,
    private readonly configurations: ConfigurationLinks,
    private readonly plans: PlanDocumentLinks,
  ) {}

  render(due: DueTaskRequest): TaskRequest {
    const { result, run, stage, workspaceName, ingress } = due;
    const workspaceUrl = `${this.publicUrl}/app/${due.organizationName}/workspaces/${workspaceName}`;
    const recipient = { id: result, type: TASK_RECIPIENT };
    return {
      payload_version: 1,
      stage,
      access_token: this.tokens.sign(result),
      capabilities: { outcomes: true },
      configuration_version_id: due.configurationVersion,
      configuration_version_download_url: this.configurations.downloadFor(
        due.configurationVersion,
        recipient,
        LINK_LIFETIME_MS,
      ),
      is_speculative: due.isSpeculative,
      organization_name: due.organizationName,
      ...(stage === 'pre_plan' ? {} : { plan_json_api_url: this.plans.urlForTask(run, result, LINK_LIFETIME_MS) }),
      run_app_url: `${workspaceUrl}/runs/${run}`,
      run_created_at: due.runCreatedAt,
      run_created_by: due.runCreatedBy,
      run_id: run,
      run_message: due.runMessage,
      task_result_callback_url: `${this.publicUrl}/api/v2/task-results/${result}/callback`,
      task_result_enforcement_level: due.enforcementLevel,
      task_result_id: result,
      vcs_branch: ingress?.branch ?? null,
      vcs_commit_url: ingress?.commitUrl ?? null,
      vcs_pull_request_url: ingress?.pullRequest?.url ?? null,
      vcs_repo_url: ingress?.cloneUrl ?? null,
      workspace_app_url: workspaceUrl,
      workspace_id: due.workspace,
      workspace_name: workspaceName,
      workspace_working_directory: due.workingDirectory,
    };
  }
}

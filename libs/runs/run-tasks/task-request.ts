import type { EnforcementLevel, TaskStageName } from './task-stages.js';

/** What a run task gets about a run. Null stands for what does not exist. */
export type TaskRequest = {
  readonly payload_version: 1;
  readonly stage: TaskStageName | 'test';
  readonly access_token: string;
  readonly capabilities: { readonly outcomes: true };
  readonly configuration_version_id: string | null;
  readonly configuration_version_download_url: string | null;
  readonly is_speculative: boolean;
  readonly organization_name: string;
  /** Only after the plan. */
  readonly plan_json_api_url?: string;
  readonly run_app_url: string;
  readonly run_created_at: string;
  readonly run_created_by: string;
  readonly run_id: string;
  readonly run_message: string;
  readonly task_result_callback_url: string;
  readonly task_result_enforcement_level: EnforcementLevel | 'test';
  readonly task_result_id: string;
  readonly vcs_branch: string | null;
  readonly vcs_commit_url: string | null;
  readonly vcs_pull_request_url: string | null;
  readonly vcs_repo_url: string | null;
  readonly workspace_app_url: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly workspace_working_directory: string | null;
};

/** Services recognize the test of a new task by this token, and answer 200 without a callback. */
const TEST_TOKEN = 'test-token';

/** The address, which the test must not make a service call. */
const toTestUrl = (publicUrl: string, path: string): string => `${publicUrl}/api/v2/${path}`;

/** Returns the request that tests a task. Its ids belong to nothing. */
export const createTestRequest = (organization: string, time: string, publicUrl: string): TaskRequest => ({
  payload_version: 1,
  stage: 'test',
  access_token: TEST_TOKEN,
  capabilities: { outcomes: true },
  configuration_version_id: 'cv-test',
  configuration_version_download_url: toTestUrl(publicUrl, 'configuration-versions/cv-test/download'),
  is_speculative: false,
  organization_name: organization,
  run_app_url: `${publicUrl}/app`,
  run_created_at: time,
  run_created_by: 'verification',
  run_id: 'run-test',
  run_message: 'Verification of a run task',
  task_result_callback_url: toTestUrl(publicUrl, 'task-results/taskrs-test/callback'),
  task_result_enforcement_level: 'test',
  task_result_id: 'taskrs-test',
  vcs_branch: null,
  vcs_commit_url: null,
  vcs_pull_request_url: null,
  vcs_repo_url: null,
  workspace_app_url: `${publicUrl}/app`,
  workspace_id: 'ws-test',
  workspace_name: 'verification',
  workspace_working_directory: null,
});

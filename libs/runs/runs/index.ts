export { ASSESSMENT, type RunEvent } from './runs/run-event.js';
export { CONFIGURATION_FILES } from './configuration-versions/configuration-version.files.js';
export { createConfigurationSweeper } from './configuration-versions/configuration-sweeper.follower.js';
export { createAssessmentsJob } from './assessments/assessments.job.js';
export { createEndedLogsJob } from './logs/ended-logs.job.js';
export { prepareRunDataDeletion } from './run-files/run-data.writes.js';
export { RUN_FILES } from './run-files/run.files.js';
export { createRunFileSweeper } from './run-files/run-file-sweeper.follower.js';
export type { CommitVersions } from './configuration-versions/commit-versions.service.js';
export { isConnectionUsable, type UnfetchedCommit } from './configuration-versions/commit-versions.queries.js';
export { createCommitVersions, createRunLogs, RunsModule, type RunsOptions, runsDefinition } from './runs.module.js';
export { createLostExecutorsJob } from './run-leases/lost-executors.job.js';
export { createWaitingRemoteRunsJob } from './queue/waiting-remote-runs.job.js';
export { isConfigurationInUse } from './configuration-versions/configuration-versions.queries.js';
export {
  IS_CONFIGURATION_NEEDED,
  preparePermanentConfigurationDeletion,
  prepareSoftConfigurationDeletion,
  type DispensableConfiguration,
} from './configuration-versions/configuration-deletion.writes.js';
export { RUN_STATUSES } from './runs/run-status.js';
export { RUN_MEASURE_COLUMNS, WORKSPACE_METRIC_COLUMNS, METRICS_WINDOW_RUNS } from './runs/runs.metrics.js';
export { findPlannedDestroy, listWorkspacesToDestroy, type WorkspaceToDestroy } from './runs/destroy-times.queries.js';
export { createChangedResources, type ChangedResources } from './plan-documents/changed-resources.service.js';
export type { ChangedResource } from './plan-documents/changed-resources.js';
export { deriveId } from './runs/runs.ids.js';
export { createServerRun } from './runs/server-runs.operation.js';
export { createRunTasksJob } from './task-results/task-requests.job.js';

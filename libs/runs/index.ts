export type { ConfigurationVersionEvent } from './configuration-version.js';
export type { RunEvent } from './run-event.js';
export { createConfigurationSweeper } from './configuration-sweeper.follower.js';
export { RunsModule, type RunsOptions } from './runs.module.js';
export { runsDefinition } from './runs.slice.js';
export { createWaitingRemoteRunsJob } from './waiting-remote-runs.chore.js';
export {
  IS_CONFIGURATION_NEEDED,
  isConfigurationInUse,
  preparePermanentConfigurationDeletion,
  prepareSoftConfigurationDeletion,
  type DispensableConfiguration,
} from './configuration-deletion.writes.js';
export { STATUS_AFTER, waitsForWorkspace } from './run-state.js';
export { FINAL_STATUSES, RUN_STATUSES, type RunStatus } from './run-status.js';
export {
  COUNTED_STATUSES,
  RUN_MEASURE_COLUMNS,
  WORKSPACE_METRIC_COLUMNS,
  METRICS_WINDOW_RUNS,
} from './runs.metrics.js';

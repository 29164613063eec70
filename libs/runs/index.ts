export type { ConfigurationVersionEvent } from './configuration-version.js';
export type { RunEvent } from './run-event.js';
export { configurationSweeper } from './configuration-sweeper.follower.js';
export { RunsModule, type RunsOptions } from './runs.module.js';
export { runsSlice } from './runs.slice.js';
export { waitingRemoteRuns } from './waiting-remote-runs.chore.js';
export {
  IS_CONFIGURATION_NEEDED,
  isConfigurationInUse,
  permanentConfigurationDeletion,
  softConfigurationDeletion,
  type DispensableConfiguration,
} from './configuration-deletion.writes.js';
export { STATUS_AFTER, waitsItsTurn } from './run-state.js';
export { FINAL_STATUSES, RUN_STATUSES, type RunStatus } from './run-status.js';
export { COUNTED, MEASURES, METRICS, WINDOW } from './runs.metrics.js';

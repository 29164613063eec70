export type { ConfigurationVersionEvent } from './configuration-version.js';
export type { RunEvent } from './run.js';
export { configurationSweeper } from './configuration-sweeper.follower.js';
export { RunsModule, type RunsOptions } from './runs.module.js';
export { runsSlice } from './runs.slice.js';
export { waitingRemoteRuns } from './waiting-remote-runs.chore.js';

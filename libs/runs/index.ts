export { configurationSweeper } from './configuration-sweeper.follower.js';
export { RunsModule, type RunsOptions } from './runs.module.js';
export { runsSlice } from './runs.slice.js';

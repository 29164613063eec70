export { runTriggersDefinition, RunTriggersModule } from './run-triggers.module.js';
export { createTriggeredRunsFollower } from './triggered-runs.follower.js';

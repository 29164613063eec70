export { FairQueue } from './reading/fair-queue.js';
export { createAbandonedStateVersionsJob } from './uploads/abandoned-state-versions.job.js';
export { STATE_FILES, StateFiles } from './files/state.files.js';
export { StateModule, type StateOptions, stateDefinition } from './state.module.js';
export { createStateSweeper } from './files/state-sweeper.follower.js';
export {
  IS_STATE_NEEDED,
  preparePermanentDeletion,
  prepareSoftDeletion,
  type DispensableStateVersion,
} from './backing-data/backing-data.writes.js';
export { parseStateIdentity } from './state-file/state-file.js';
export { MAX_STATE_BYTES } from './uploads/state-versions.receiver.js';
export { SNAPSHOT_INTERVAL_SECONDS } from './state-versions/state-versions.controller.js';

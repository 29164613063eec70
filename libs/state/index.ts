export { StateFiles } from './state.files.js';
export { StateModule, type StateOptions } from './state.module.js';
export { createStateSweeper } from './state-sweeper.follower.js';
export { stateDefinition } from './state.slice.js';
export {
  IS_STATE_NEEDED,
  preparePermanentDeletion,
  prepareSoftDeletion,
  type DispensableStateVersion,
} from './backing-data.writes.js';

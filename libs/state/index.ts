export { StateFiles } from './state.files.js';
export { StateModule, type StateOptions } from './state.module.js';
export { stateSweeper } from './state-sweeper.follower.js';
export { stateSlice } from './state.slice.js';
export { IS_NEEDED, permanentDeletion, softDeletion, type Dispensable } from './backing-data.writes.js';

export { StateFiles } from './state.files.js';
export { StateModule, type StateOptions } from './state.module.js';
export { stateSlice } from './state.slice.js';

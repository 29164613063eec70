export { stateSlice } from './state.slice.js';

export { TransitKeyWrapper } from './transit-key-wrapper.js';

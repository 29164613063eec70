export { parseExactly } from './state-file/exact-json.js';

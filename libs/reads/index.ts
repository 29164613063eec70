export { Reads, shownOnce } from './reads.js';
export { ReadsModule } from './reads.module.js';

export { ReadRecorder, releaseOnceRecorded } from './reads.js';
export { ReadsModule } from './reads.module.js';

export { ReadRecorder, releaseOnceRecorded } from './read-recorder.js';
export { ReadsModule } from './reads.module.js';

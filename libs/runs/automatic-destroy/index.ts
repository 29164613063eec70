export { createAutomaticDestroyJob } from './automatic-destroy.job.js';
export { automaticDestroyDefinition } from './automatic-destroy.definition.js';

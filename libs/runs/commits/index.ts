export { commitsDefinition, createCommitsJob } from './commits.module.js';

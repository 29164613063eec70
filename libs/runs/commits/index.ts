export { commitsDefinition, CommitsModule, createCommitsJobs } from './commits.module.js';

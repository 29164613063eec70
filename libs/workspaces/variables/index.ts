export { VariablesModule, variablesDefinition } from './variables.module.js';
export { selectCandidatesForRun, type RunVariableCandidates } from './variables/variables-of-runs.queries.js';

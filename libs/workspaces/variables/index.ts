export { createExpiredVariableSetsJob } from './variable-sets/expired-variable-sets.job.js';
export { ChangeVariableSet } from './variable-sets/variable-sets.handler.js';
export { VariablesModule, variablesDefinition } from './variables.module.js';
export { selectCandidatesForRun, type RunVariableCandidates } from './variables/variables-of-runs.queries.js';

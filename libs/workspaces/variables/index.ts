export { VariablesModule, variablesDefinition } from './variables.module.js';
export {
  listCandidatesForRun,
  selectBytesForRun,
  type RunVariableCandidate,
} from './variables/variables-of-runs.queries.js';

export type { VariableEvent } from './variables/variable.js';
export { VariablesModule, variablesDefinition } from './variables.module.js';

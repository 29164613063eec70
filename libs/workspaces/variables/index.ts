export type { VariableEvent } from './variables/variable.js';
export { VariablesModule } from './variables.module.js';
export { variablesDefinition } from './variables.definition.js';

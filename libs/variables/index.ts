export type { VariableEvent } from './variable.js';
export { VariablesModule } from './variables.module.js';
export { variablesDefinition } from './variables.slice.js';

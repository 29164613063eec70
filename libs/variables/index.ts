export type { VariableEvent } from './variable.js';
export { VariablesModule } from './variables.module.js';
export { variablesSlice } from './variables.slice.js';

export { VariablesModule } from './variables.module.js';
export { variablesSlice } from './variables.slice.js';

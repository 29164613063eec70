export { VariablesModule, variablesDefinition } from './variables.module.js';

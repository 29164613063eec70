export { resolveEffectiveVariables, type VariableCandidate } from './variables/precedence.js';

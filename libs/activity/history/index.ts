export { HistoryModule } from './history.module.js';
export { createHistoryDefinition } from './history.definition.js';

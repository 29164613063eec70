export { HistoryModule } from './history.module.js';
export { historyDefinition } from './history.definition.js';

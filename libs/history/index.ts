export { HistoryModule } from './history.module.js';
export { historyDefinition } from './history.slice.js';

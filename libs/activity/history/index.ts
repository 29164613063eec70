export { HistoryModule, createHistoryDefinition } from './history.module.js';

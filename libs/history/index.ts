export { HistoryModule } from './history.module.js';
export { historySlice } from './history.slice.js';

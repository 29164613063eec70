/** What a run means for others, for who keeps something of runs as well. */
export { STATUS_AFTER, waitsItsTurn } from './run-state.js';
export { FINAL_STATUSES, RUN_STATUSES, type RunStatus } from './run-status.js';
export { COUNTED, MEASURES, METRICS, WINDOW } from './runs.metrics.js';

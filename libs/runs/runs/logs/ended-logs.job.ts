import type { ScheduledJob } from '#platform/postgres';
import type { RunLogs } from './run-logs.service.js';

const MINUTE_MS = 60_000;

/** Moves the logs of ended phases from Postgres to the file store, so that the database has only the logs in progress. */
export const createEndedLogsJob = (logs: RunLogs): ScheduledJob => ({
  name: 'ended_run_logs',
  everyMs: MINUTE_MS,
  run: ({ signal, done }) => logs.moveEndedLogs(signal, done),
});

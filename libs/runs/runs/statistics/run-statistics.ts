import type { CalendarDays } from '#api/json-api/rules';
import { FAILED_STATUSES, isFinal, type RunStatus } from '../runs/run-status.js';

/** What became of a run. */
export const RUN_RESULTS = ['applied', 'planned-and-finished', 'failed', 'stopped', 'open'] as const;
type RunResult = (typeof RUN_RESULTS)[number];

const getRunResult = (status: RunStatus): RunResult => {
  if (status === 'applied') return 'applied';
  if (status === 'planned_and_finished') return 'planned-and-finished';
  if (FAILED_STATUSES.includes(status)) return 'failed';
  return isFinal(status) ? 'stopped' : 'open';
};

/** The runs of a day with the same status. */
export type RunCountRow = {
  /** The number of the day, from 0. */
  readonly day: number;
  readonly status: RunStatus;
  readonly runs: number;
  /** The number of runs that were planned, and the sum of the times in milliseconds. */
  readonly plans: number;
  readonly planMs: number;
  readonly applies: number;
  readonly applyMs: number;
};

type RunDay = {
  readonly date: string;
  readonly start: number;
  readonly end: number;
  readonly counts: Readonly<Record<RunResult, number>>;
  /** Average times in milliseconds; null if no run of the day has come so far. */
  readonly planMs: number | null;
  readonly applyMs: number | null;
};

const sum = <T>(rows: readonly T[], get: (row: T) => number): number =>
  rows.reduce((total, row) => total + get(row), 0);

const divide = (total: number, count: number): number | null => (count === 0 ? null : Math.round(total / count));

/** Returns all days, also days without a run. */
export const toRunDays = ({ dates, bounds }: CalendarDays, rows: readonly RunCountRow[]): readonly RunDay[] => {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  return dates.map((date, index) => {
    const ofDay = byDay.get(index) ?? [];
    const countResult = (result: RunResult): number =>
      sum(
        ofDay.filter(({ status }) => getRunResult(status) === result),
        ({ runs }) => runs,
      );
    return {
      date,
      start: bounds[index] ?? 0,
      end: bounds[index + 1] ?? 0,
      counts: {
        applied: countResult('applied'),
        'planned-and-finished': countResult('planned-and-finished'),
        failed: countResult('failed'),
        stopped: countResult('stopped'),
        open: countResult('open'),
      },
      planMs: divide(
        sum(ofDay, ({ planMs }) => planMs),
        sum(ofDay, ({ plans }) => plans),
      ),
      applyMs: divide(
        sum(ofDay, ({ applyMs }) => applyMs),
        sum(ofDay, ({ applies }) => applies),
      ),
    };
  });
};

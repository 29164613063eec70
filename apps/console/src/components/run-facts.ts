import type { ConsoleRun } from '../api/runs.js';

/* The kind and the source of a run, and the durations of its phases. */

export type RunAttributes = ConsoleRun['attributes'];
export type RunTimes = RunAttributes['status-timestamps'];

const SOURCES: Readonly<Record<RunAttributes['source'], string>> = {
  'tfe-api': 'API',
  'tfe-ui': 'Console',
  'tfe-configuration-version': 'Upload',
  'tfe-run-trigger': 'Run trigger',
  'tfe-infrastructure-lifecycle': 'Automatic destroy',
  assessment: 'Health assessment',
};

/** Returns where a run was queued: here, by a request, by the upload of a configuration, or by the server itself. */
export const formatRunSource = (source: RunAttributes['source']): string => SOURCES[source];

type RunKind = Pick<RunAttributes, 'is-destroy' | 'refresh-only' | 'plan-only' | 'save-plan'>;

/** Returns what the run does if it does not simply plan and apply, such as `Plan only`. */
export const listRunKinds = (run: RunKind): readonly string[] => [
  ...(run['is-destroy'] ? ['Destroy'] : []),
  ...(run['refresh-only'] ? ['Refresh only'] : []),
  ...(run['plan-only'] ? ['Plan only'] : []),
  ...(run['save-plan'] ? ['Saved plan'] : []),
];

const PHASES = { plan: ['planning-at', 'planned-at'], apply: ['applying-at', 'applied-at'] } as const;

/** A phase that breaks off ends with the run. */
const findEnd = (times: RunTimes, finished: 'planned-at' | 'applied-at'): string | undefined =>
  times[finished] ?? times['errored-at'] ?? times['canceled-at'] ?? times['force-canceled-at'];

/** Returns how long an executor has worked on the phase, in milliseconds; null before its start. */
export const measurePhase = (times: RunTimes, phase: keyof typeof PHASES, now: number): number | null => {
  const [started, finished] = PHASES[phase];
  const start = times[started];
  if (start === undefined) return null;
  const end = findEnd(times, finished);
  return Math.max(0, (end === undefined ? now : Date.parse(end)) - Date.parse(start));
};

/** Returns how long an executor has worked on the run. The time in which the run waited does not count. */
export const measureRun = (times: RunTimes, now: number): number | null => {
  const [plan, apply] = [measurePhase(times, 'plan', now), measurePhase(times, 'apply', now)];
  return plan === null && apply === null ? null : (plan ?? 0) + (apply ?? 0);
};

const QUEUES = [
  ['plan-queued-at', 'planning-at'],
  ['apply-queued-at', 'applying-at'],
] as const;

/** Returns how long the run has waited for executors before its phases, in milliseconds. Waiting for people does not count. */
export const measureQueue = (times: RunTimes): number =>
  QUEUES.reduce((sum, [queued, started]) => {
    const [from, to] = [times[queued], times[started]];
    return sum + (from === undefined || to === undefined ? 0 : Math.max(0, Date.parse(to) - Date.parse(from)));
  }, 0);

/** Returns the two largest units, such as `3 min 12 s`. */
export const formatDuration = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

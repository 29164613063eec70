import type { Timestamp } from '#platform/kernel';
import { isFinal, type RunStatus } from './run-status.js';

export type PhaseName = 'plan' | 'apply';

/** The time at which a run reached each status. */
export type StatusTimestamps = { readonly [S in RunStatus]?: Timestamp };

export const PHASE_STATUSES = [
  'pending',
  'queued',
  'running',
  'finished',
  'errored',
  'canceled',
  'unreachable',
] as const;
export type PhaseStatus = (typeof PHASE_STATUSES)[number];

/** A plan or an apply: the phase of a run as its own resource. */
export type RunPhase = {
  readonly status: PhaseStatus;
  readonly timestamps: {
    readonly queued: Timestamp | undefined;
    readonly started: Timestamp | undefined;
    readonly finished: Timestamp | undefined;
    readonly errored: Timestamp | undefined;
    readonly canceled: Timestamp | undefined;
    readonly forceCanceled: Timestamp | undefined;
  };
};

/** The status of an unfinished phase, by the final status of its run. */
const PHASE_STATUS_BY_RUN_END = {
  errored: 'errored',
  canceled: 'canceled',
  force_canceled: 'canceled',
} as const satisfies Partial<Record<RunStatus, PhaseStatus>>;

const buildPhase = (
  status: RunStatus,
  reached: StatusTimestamps,
  [queued, started, finished]: readonly [RunStatus, RunStatus, RunStatus],
): RunPhase => {
  const isOpen = reached[queued] !== undefined && reached[finished] === undefined;
  const brokenOff = isOpen && status in PHASE_STATUS_BY_RUN_END;
  return {
    status: statusOf(),
    timestamps: {
      queued: reached[queued],
      started: reached[started],
      finished: reached[finished],
      errored: brokenOff ? reached.errored : undefined,
      canceled: brokenOff ? reached.canceled : undefined,
      forceCanceled: brokenOff ? reached.force_canceled : undefined,
    },
  };

  function statusOf(): PhaseStatus {
    if (reached[finished]) return 'finished';
    if (brokenOff) return PHASE_STATUS_BY_RUN_END[status as keyof typeof PHASE_STATUS_BY_RUN_END];
    if (isFinal(status)) return 'unreachable';
    if (reached[started]) return 'running';
    return reached[queued] ? 'queued' : 'pending';
  }
};

export const toPlanPhase = (status: RunStatus, reached: StatusTimestamps): RunPhase =>
  buildPhase(status, reached, ['plan_queued', 'planning', 'planned']);

export const toApplyPhase = (status: RunStatus, reached: StatusTimestamps): RunPhase =>
  buildPhase(status, reached, ['apply_queued', 'applying', 'applied']);

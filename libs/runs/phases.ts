import type { Timestamp } from '#kernel';
import { isFinal, type RunStatus } from './run-status.js';

/** When a run came to each status. */
export type Reached = { readonly [S in RunStatus]?: Timestamp };

export type PhaseStatus = 'pending' | 'queued' | 'running' | 'finished' | 'errored' | 'canceled' | 'unreachable';

/** A plan or an apply: a stretch of its run, seen by itself. */
export type Phase = {
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

/** How a phase ended that did not finish, by how its run ended. */
const BROKEN_OFF = { errored: 'errored', canceled: 'canceled', force_canceled: 'canceled' } as const satisfies Partial<
  Record<RunStatus, PhaseStatus>
>;

const phase = (
  status: RunStatus,
  reached: Reached,
  [queued, started, finished]: readonly [RunStatus, RunStatus, RunStatus],
): Phase => {
  const isOpen = reached[queued] !== undefined && reached[finished] === undefined;
  const brokenOff = isOpen && status in BROKEN_OFF;
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
    if (brokenOff) return BROKEN_OFF[status as keyof typeof BROKEN_OFF];
    if (isFinal(status)) return 'unreachable';
    if (reached[started]) return 'running';
    return reached[queued] ? 'queued' : 'pending';
  }
};

export const planOf = (status: RunStatus, reached: Reached): Phase =>
  phase(status, reached, ['plan_queued', 'planning', 'planned']);

export const applyOf = (status: RunStatus, reached: Reached): Phase =>
  phase(status, reached, ['apply_queued', 'applying', 'applied']);

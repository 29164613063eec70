import { Badge } from '@mantine/core';
import type { ApiResource } from '#packages/client';
import { formatName } from './words.js';

export type StatusOfRun = ApiResource<'Run'>['attributes']['status'];

/** Statuses by what they mean to a person. All others are steps of a run that works. */
const COLORS: Readonly<Partial<Record<StatusOfRun, string>>> = {
  applied: 'green',
  planned_and_finished: 'green',
  planned_and_saved: 'green',
  errored: 'red',
  policy_soft_failed: 'red',
  planned: 'yellow',
  policy_checked: 'yellow',
  policy_override: 'yellow',
  cost_estimated: 'yellow',
  post_plan_awaiting_decision: 'yellow',
  discarded: 'gray',
  canceled: 'gray',
  force_canceled: 'gray',
  pending: 'gray',
};

const LABELS: Readonly<Partial<Record<StatusOfRun, string>>> = {
  planned: 'Needs confirmation',
  planned_and_finished: 'Planned, no changes',
  planned_and_saved: 'Plan saved',
  force_canceled: 'Canceled by force',
};

/** `apply_queued` is shown as `Apply queued`. */
export const formatRunStatus = (status: StatusOfRun): string => LABELS[status] ?? formatName(status);

export const RunStatusBadge = ({ status }: { readonly status: StatusOfRun }) => (
  <Badge color={COLORS[status] ?? 'blue'} fw={600} miw="max-content" px={6} lts={0}>
    {formatRunStatus(status)}
  </Badge>
);

const ENDED: ReadonlySet<StatusOfRun> = new Set([
  'applied',
  'planned_and_finished',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
]);

/** Returns whether nothing changes the run any more. */
export const hasEnded = (status: StatusOfRun): boolean => ENDED.has(status);

type PlanCountsProps = {
  /** The numbers of resources that are added, changed and destroyed. */
  readonly counts: readonly [number, number, number];
  readonly isDone?: boolean;
};

/** Shows how many resources a plan changes, or an apply has changed. */
export const PlanCounts = ({ counts: [added, changed, destroyed], isDone = false }: PlanCountsProps) => (
  <span>
    {isDone
      ? `${added} added, ${changed} changed, ${destroyed} destroyed`
      : `${added} to add, ${changed} to change, ${destroyed} to destroy`}
  </span>
);

import { Badge } from '@mantine/core';
import type { ApiResource } from '#client';

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
export const formatRunStatus = (status: StatusOfRun): string => {
  const words = status.replaceAll('_', ' ');
  return LABELS[status] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

export const RunStatusBadge = ({ status }: { readonly status: StatusOfRun }) => (
  <Badge variant="light" color={COLORS[status] ?? 'blue'} tt="none" fw={600} radius="sm">
    {formatRunStatus(status)}
  </Badge>
);

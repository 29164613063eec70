import { Badge, VisuallyHidden } from '@mantine/core';
import type { ApiResource } from '#packages/client';
import type { PlanTotals } from '../api/runs.js';
import { formatName } from './words.js';
import classes from './run-status.module.css';

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
  post_plan_completed: 'yellow',
  discarded: 'gray',
  canceled: 'gray',
  force_canceled: 'gray',
  pending: 'gray',
};

const LABELS: Readonly<Partial<Record<StatusOfRun, string>>> = {
  planned: 'Needs confirmation',
  post_plan_completed: 'Needs confirmation',
  planned_and_finished: 'Planned',
  planned_and_saved: 'Plan saved',
  force_canceled: 'Canceled by force',
};

/** `apply_queued` is shown as `Apply queued`. */
export const formatRunStatus = (status: StatusOfRun): string => LABELS[status] ?? formatName(status);

/** A run of a workspace, as lists show it. */
type RunFacts = { readonly status: StatusOfRun; readonly hasChanges: boolean };

/** A plan without an apply ends with the same status whether it found changes or not. */
const describeRun = ({ status, hasChanges }: RunFacts): string =>
  status === 'planned_and_finished' && !hasChanges ? 'Planned, no changes' : formatRunStatus(status);

export const RunStatusBadge = ({ run }: { readonly run: RunFacts }) => (
  <Badge color={COLORS[run.status] ?? 'blue'} fw={600} miw="max-content" px={6} lts={0}>
    {describeRun(run)}
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

type CountProps = {
  readonly sign: string;
  readonly count: number;
  readonly words: string;
  readonly kind: keyof PlanTotals;
};

const Count = ({ sign, count, words, kind }: CountProps) => (
  <span className={classes['count']} data-kind={count > 0 ? kind : undefined}>
    <span aria-hidden="true">
      {sign}
      {count.toLocaleString()}
    </span>
    <VisuallyHidden>
      {count.toLocaleString()} {words}
    </VisuallyHidden>
  </span>
);

type PlanCountsProps = { readonly counts: PlanTotals; readonly isDone?: boolean };

/** Shows how many resources a plan changes, or an apply has changed, as terraform does. Screen readers read words. */
export const PlanCounts = ({ counts, isDone = false }: PlanCountsProps) => {
  const { added, changed, destroyed, imported } = counts;
  return (
    <span className={classes['counts']}>
      {imported > 0 && <Count sign="→" count={imported} kind="imported" words={isDone ? 'imported' : 'to import'} />}
      <Count sign="+" count={added} kind="added" words={isDone ? 'added' : 'to add'} />
      <Count sign="~" count={changed} kind="changed" words={isDone ? 'changed' : 'to change'} />
      <Count sign="−" count={destroyed} kind="destroyed" words={isDone ? 'destroyed' : 'to destroy'} />
    </span>
  );
};

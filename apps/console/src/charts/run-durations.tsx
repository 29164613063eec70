import { useInfiniteQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { workspaceRunsQuery, type RunListRow } from '../api/runs.js';
import { formatCount } from '../components/counts.js';
import { measurePhase, measureQueue } from '../components/run-facts.js';
import { LoadingLines, QueryState } from '../components/states.js';
import { useNow } from '../components/times.js';
import { ChartCard, type ChartColor } from './chart-card.js';
import { formatDuration } from './chart-texts.js';
import { StackedBars } from './stacked-bars.js';

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

const SECOND = 1_000;

type DurationPart = 'queue' | 'plan' | 'apply';

/** The parts of a bar, from below. */
const PARTS: readonly { readonly part: DurationPart; readonly label: string; readonly color: ChartColor }[] = [
  { part: 'queue', label: 'Waiting for an executor', color: 'open' },
  { part: 'plan', label: 'Plan', color: 'planned' },
  { part: 'apply', label: 'Apply', color: 'applied' },
];

type MeasuredRun = { readonly id: string; readonly createdAt: Date; readonly message: string } & Readonly<
  Record<DurationPart, number | null>
>;

/** Returns the durations of a run in milliseconds; null before its plan has begun. */
const measure = ({ id, attributes }: RunListRow, now: number): MeasuredRun | null => {
  const times = attributes['status-timestamps'];
  const plan = measurePhase(times, 'plan', now);
  if (plan === null) return null;
  return {
    id,
    createdAt: new Date(attributes['created-at']),
    message: attributes.message,
    queue: measureQueue(times),
    plan,
    apply: measurePhase(times, 'apply', now),
  };
};

type RunDurationsProps = {
  readonly organization: string;
  readonly workspace: { readonly id: string; readonly name: string };
};

/** Shows how long the last runs of a workspace have waited for executors, planned and applied. */
export const RunDurationsChart = ({ organization, workspace }: RunDurationsProps) => {
  const query = useInfiniteQuery(workspaceRunsQuery(organization, workspace.id));
  const now = useNow();
  return (
    <QueryState query={query} what="workspace" loading={<LoadingLines count={6} height={28} />}>
      {({ pages }) => {
        const listed = pages[0]?.data ?? [];
        const runs = listed.map((run) => measure(run, now)).filter((run) => run !== null);
        const linkTo = (id: string): LinkProps => ({
          to: '/$organization/workspaces/$workspace/runs/$run',
          params: { organization, workspace: workspace.name, run: id },
        });
        return <Durations runs={runs} listed={listed.length} linkTo={linkTo} />;
      }}
    </QueryState>
  );
};

type DurationsProps = {
  readonly runs: readonly MeasuredRun[];
  readonly listed: number;
  readonly linkTo: (id: string) => LinkProps;
};

const Durations = ({ runs, listed, linkTo }: DurationsProps) => (
  <ChartCard
    title="Durations of runs"
    description={`Of the last ${formatCount(listed, 'run')}, those that have begun to plan. The time in which a run waits for a person does not count.`}
    headers={['Run', ...PARTS.map(({ label }) => label)]}
    legend={PARTS}
    empty={runs.length === 0 ? 'No run has begun to plan yet.' : null}
    rows={runs.map((run) => ({
      id: run.id,
      link: linkTo(run.id),
      cells: [timeFormat.format(run.createdAt), ...PARTS.map(({ part }) => formatDuration(run[part]))],
    }))}
  >
    <StackedBars
      label="Durations of runs"
      formatValue={(seconds) => formatDuration(seconds * SECOND)}
      bars={runs.toReversed().map((run) => ({
        id: run.id,
        label: dayFormat.format(run.createdAt),
        parts: PARTS.map(({ part, label, color }) => ({
          color,
          value: (run[part] ?? 0) / SECOND,
          label: `${timeFormat.format(run.createdAt)}, ${run.message || run.id}: ${label.toLowerCase()} ${formatDuration(run[part])}`,
          link: linkTo(run.id),
        })),
      }))}
    />
  </ChartCard>
);

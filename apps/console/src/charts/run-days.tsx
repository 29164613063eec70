import { useQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { organizationRunDaysQuery, workspaceRunDaysQuery, type RunDayCounts } from '../api/statistics.js';
import type { RunResultKey } from '../api/runs.js';
import { formatCount } from '../components/counts.js';
import { LoadingLines, QueryState } from '../components/states.js';
import { ChartCard, type ChartColor } from './chart-card.js';
import { formatDay, formatDuration } from './chart-texts.js';
import { StackedBars } from './stacked-bars.js';

const DAYS = 30;

/** The parts of a bar, from below. */
const RESULTS: readonly { readonly result: RunResultKey; readonly label: string; readonly color: ChartColor }[] = [
  { result: 'applied', label: 'Applied', color: 'applied' },
  { result: 'planned-and-finished', label: 'Planned only', color: 'planned' },
  { result: 'failed', label: 'Failed', color: 'failed' },
  { result: 'stopped', label: 'Discarded or canceled', color: 'stopped' },
  { result: 'open', label: 'Not ended', color: 'open' },
];

const HEADERS = ['Day', ...RESULTS.map(({ label }) => label), 'Average plan', 'Average apply'];

type RunDaysProps = {
  readonly organization: string;
  readonly workspace?: { readonly id: string; readonly name: string };
};

/** Shows how many runs of each day had each result. Without a workspace, those of all workspaces that the person may read. */
export const RunDaysChart = ({ organization, workspace }: RunDaysProps) => {
  const ofOrganization = useQuery({
    ...organizationRunDaysQuery(organization, DAYS),
    enabled: workspace === undefined,
  });
  const ofWorkspace = useQuery({
    ...workspaceRunDaysQuery(organization, workspace?.id ?? '', DAYS),
    enabled: workspace !== undefined,
  });
  const linkTo = ({ start, end }: RunDayCounts, result?: RunResultKey): LinkProps => ({
    to: '/$organization/runs',
    params: { organization },
    search: {
      since: start,
      before: end,
      ...(result ? { result } : {}),
      ...(workspace ? { workspace: workspace.name } : {}),
    },
  });
  return (
    <QueryState
      query={workspace ? ofWorkspace : ofOrganization}
      what={workspace ? 'workspace' : 'organization'}
      loading={<LoadingLines count={6} height={28} />}
    >
      {(days) => <RunDays days={days} linkTo={linkTo} />}
    </QueryState>
  );
};

type DaysProps = {
  readonly days: readonly RunDayCounts[];
  readonly linkTo: (day: RunDayCounts, result?: RunResultKey) => LinkProps;
};

const countRuns = (day: RunDayCounts): number => RESULTS.reduce((sum, { result }) => sum + day[result], 0);

const RunDays = ({ days, linkTo }: DaysProps) => {
  const total = days.reduce((sum, day) => sum + countRuns(day), 0);
  const toPart = (day: RunDayCounts) =>
    RESULTS.map(({ result, label, color }) => ({
      color,
      value: day[result],
      label: `${formatDay(day.date)}: ${formatCount(day[result], 'run')} ${label.toLowerCase()}, of ${countRuns(day).toLocaleString()}`,
      link: linkTo(day, result),
    }));
  return (
    <ChartCard
      title={`Runs of the last ${DAYS} days`}
      description="By the day of their creation and by their result."
      headers={HEADERS}
      legend={RESULTS}
      empty={total === 0 ? `No run that you may read was created in the last ${DAYS} days.` : null}
      rows={days.toReversed().map((day) => ({
        id: day.date,
        link: linkTo(day),
        cells: [
          formatDay(day.date),
          ...RESULTS.map(({ result }) => day[result].toLocaleString()),
          formatDuration(day['plan-duration-average']),
          formatDuration(day['apply-duration-average']),
        ],
      }))}
    >
      <StackedBars
        label="Runs by day and result"
        bars={days.map((day) => ({ id: day.date, label: formatDay(day.date), parts: toPart(day) }))}
      />
    </ChartCard>
  );
};

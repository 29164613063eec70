import { Badge, Text } from '@mantine/core';
import type { SiteStatus } from '../../api/site.js';
import { Card } from '../../components/card.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { Time, useNow } from '../../components/times.js';

type Job = SiteStatus['scheduled-jobs'][number];

const JobResult = ({ job: { 'last-result': result } }: { readonly job: Job }) => {
  if (result === null) return <>–</>;
  return (
    <Badge color={result === 'succeeded' ? 'green' : 'red'}>{result === 'succeeded' ? 'Succeeded' : 'Failed'}</Badge>
  );
};

const NextRun = ({ job }: { readonly job: Job }) => {
  const now = useNow();
  if (job['last-result'] === 'failed') return <>within 5 minutes</>;
  const next = job['next-run-at'];
  if (next === null) return <>when a projector starts</>;
  return new Date(next).getTime() <= now ? <>now</> : <Time value={next} />;
};

const COLUMNS: readonly DataColumn<Job & { readonly id: string }>[] = [
  { header: 'Name', cell: ({ name }) => <code>{name}</code> },
  { header: 'Last result', cell: (job) => <JobResult job={job} /> },
  {
    header: 'Last run',
    cell: ({ 'last-run-at': last }) => (last === null ? 'never' : <Time value={last} />),
  },
  { header: 'Next run', cell: (job) => <NextRun job={job} /> },
];

/** The scheduled jobs with their last and next run. */
export const ScheduledJobs = ({ status: { 'scheduled-jobs': jobs } }: { readonly status: SiteStatus }) => (
  <Card title="Scheduled jobs">
    <Text size="sm" c="dimmed">
      Work that depends on time. One projector at a time does it.
    </Text>
    <DataTable label="Scheduled jobs" isInCard rows={jobs.map((job) => ({ ...job, id: job.name }))} columns={COLUMNS} />
  </Card>
);

import { Badge, Table, Text } from '@mantine/core';
import type { SiteStatus } from '../../api/site.js';
import { Card } from '../../components/card.js';
import { Time, useNow } from '../../components/times.js';
import { WideTable } from '../../components/wide-table.js';

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

const JobRow = ({ job }: { readonly job: Job }) => (
  <Table.Tr>
    <Table.Td>
      <code>{job.name}</code>
    </Table.Td>
    <Table.Td>
      <JobResult job={job} />
    </Table.Td>
    <Table.Td>{job['last-run-at'] === null ? 'never' : <Time value={job['last-run-at']} />}</Table.Td>
    <Table.Td>
      <NextRun job={job} />
    </Table.Td>
  </Table.Tr>
);

/** The scheduled jobs with their last and next run. */
export const ScheduledJobs = ({ status: { 'scheduled-jobs': jobs } }: { readonly status: SiteStatus }) => (
  <Card title="Scheduled jobs">
    <Text size="sm" c="dimmed">
      Work that depends on time. One projector at a time does it.
    </Text>
    <WideTable label="Scheduled jobs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Last result</Table.Th>
          <Table.Th>Last run</Table.Th>
          <Table.Th>Next run</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {jobs.map((job) => (
          <JobRow key={job.name} job={job} />
        ))}
      </Table.Tbody>
    </WideTable>
  </Card>
);

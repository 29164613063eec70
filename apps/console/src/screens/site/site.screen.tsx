import { Badge, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { siteStatusQuery, type SiteStatus } from '../../api/site.js';
import { Card, FactList } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { DataTable } from '../../components/data-table.js';
import { QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { FAR_BEHIND, formatBehind } from './follower-lag.js';
import { ScheduledJobs } from './scheduled-jobs.js';
import { SitePage } from './site-page.js';
import classes from './site.module.css';

type PartProps = { readonly status: SiteStatus };

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

const formatBytes = (bytes: number): string => {
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTES.length - 1);
  return `${(bytes / 1_000 ** unit).toLocaleString(undefined, { maximumFractionDigits: 1 })} ${BYTES[unit] ?? ''}`;
};

const FollowerBadge = ({ running, behind }: SiteStatus['followers'][number]) => {
  const [color, text] = !running
    ? (['red', 'No process runs it'] as const)
    : behind > FAR_BEHIND
      ? (['yellow', 'Far behind'] as const)
      : (['green', 'Runs'] as const);
  return <Badge color={color}>{text}</Badge>;
};

const Followers = ({ status: { followers } }: PartProps) => (
  <Card title="Followers">
    {followers.some(({ running }) => !running) && (
      <>
        <Text size="sm">A follower that nobody runs stops the audit trail, Kafka or runs. Start a projector:</Text>
        <CodeBlock code="npm run cadastre -- projector" label="the start command" />
      </>
    )}
    <DataTable
      label="Followers"
      isInCard
      rows={followers.map((follower) => ({ ...follower, id: follower.name }))}
      columns={[
        { header: 'Name', cell: ({ name }) => <code>{name}</code> },
        { header: 'Status', cell: (follower) => <FollowerBadge {...follower} /> },
        { header: 'Events behind', align: 'right', cell: ({ behind }) => formatBehind(behind) },
        {
          header: 'Last progress',
          align: 'right',
          cell: ({ 'idle-seconds': idle }) => (idle === null ? 'never' : `${idle.toLocaleString()} s ago`),
        },
      ]}
    />
  </Card>
);

const Processes = ({ status: { processes } }: PartProps) => (
  <Card title="Processes">
    <Text size="sm" c="dimmed">
      Processes and commands with a connection to Postgres.
    </Text>
    <DataTable
      label="Processes"
      isInCard
      rows={processes.map((process) => ({ ...process, id: `${process.name} ${process.address ?? ''}` }))}
      columns={[
        { header: 'Name', cell: ({ name }) => name },
        { header: 'Address', cell: ({ address }) => address ?? 'this machine' },
        { header: 'Connections', align: 'right', cell: ({ connections }) => connections.toLocaleString() },
        { header: 'Since', align: 'right', cell: ({ since }) => <Time value={since} /> },
      ]}
    />
  </Card>
);

const Settings = ({ status: { settings } }: PartProps) => (
  <Card title="Settings in force">
    <Text size="sm" c="dimmed">
      The settings of the gateway that answered. Secrets are never shown.
    </Text>
    <dl className={classes['settings']}>
      {settings.map(({ name, value }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </Card>
);

const Overview = ({ status }: PartProps) => (
  <Card title="Version and storage">
    <FactList
      facts={[
        { label: 'Cadastre', value: status.version },
        { label: 'Postgres', value: status['postgres-version'] },
        { label: 'Database', value: formatBytes(status['database-bytes']) },
        { label: 'Events in the log', value: `about ${status['event-count'].toLocaleString()}` },
      ]}
    />
  </Card>
);

const Verification = ({ status: { 'last-verification': last } }: PartProps) => (
  <Card title="Verify">
    {last ? (
      <FactList
        facts={[
          {
            label: 'Result',
            value: (
              <Badge color={last.result === 'clean' ? 'green' : 'red'}>
                {last.result === 'clean'
                  ? 'Everything matches the log'
                  : 'A view differs from the log: run the command'}
              </Badge>
            ),
          },
          { label: 'Ended', value: <Time value={last['ended-at']} /> },
          {
            label: 'Up to position',
            value: last.position === null ? 'The log was empty' : `${last.transaction ?? ''} / ${last.position}`,
          },
        ]}
      />
    ) : (
      <Text size="sm">Nobody has verified this site yet.</Text>
    )}
    <Text size="sm" c="dimmed">
      These commands compare every view with the log, and examine the whole installation.
    </Text>
    <CodeBlock code={'npm run cadastre -- verify\nnpm run cadastre -- doctor'} label="the verification commands" />
  </Card>
);

const Status = ({ status }: PartProps) => (
  <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
    <Stack className={classes['column']}>
      <Overview status={status} />
      <Followers status={status} />
      <ScheduledJobs status={status} />
      <Processes status={status} />
    </Stack>
    <Stack className={classes['column']}>
      <Verification status={status} />
      <Settings status={status} />
    </Stack>
  </SimpleGrid>
);

/** The site, for its administrators. */
export const SiteScreen = () => {
  const query = useQuery(siteStatusQuery);
  return (
    <SitePage description="The whole installation. Only site administrators see this screen." error={query.error}>
      <QueryState query={query} what="screen">
        {(status) => <Status status={status} />}
      </QueryState>
    </SitePage>
  );
};

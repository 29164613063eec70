import { Alert, Anchor, Badge, Group, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { trailLogStatusQuery, type TrailLogStatus } from '../../api/trail-log.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { formatCount } from '../../components/counts.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { formatExactTime, RelativeTime } from '../../components/times.js';
import { listWitnessNames } from './witness-names.js';

const formatEntries = (count: number): string => formatCount(count, 'entry', 'entries');

const listFacts = (log: TrailLogStatus): readonly LabeledFact[] => {
  const waiting = log['entry-count'] - log.size;
  return [
    { label: 'Last checkpoint', value: formatEntries(log.size) },
    {
      label: 'Signed',
      value: (
        <>
          {formatExactTime(log['signed-at'])} (<RelativeTime value={log['signed-at']} />)
        </>
      ),
    },
    {
      label: 'After it',
      value: waiting > 0 ? `${formatEntries(waiting)} for the next checkpoint` : 'No entry waits for a checkpoint',
    },
    { label: 'Origin', value: <code>{log.origin}</code> },
  ];
};

const Witnesses = ({ log }: { readonly log: TrailLogStatus }) => {
  const site = log['site-log'];
  const names = listWitnessNames(log);
  if (log.witnesses.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No witness has cosigned the log of the site, so readers have to compare their checkpoints themselves.
      </Text>
    );
  }
  return (
    <>
      <Group gap="xs">
        <Text size="sm">Witnesses of the log of the site, which has digests of checkpoints:</Text>
        <Badge color={site?.witnessed ? 'green' : 'red'}>{site?.witnessed ? 'Quorum' : 'No quorum'}</Badge>
      </Group>
      <List size="sm">
        {log.witnesses.map(({ 'verifier-key': key, size }) => {
          const name = key.split('+')[0] ?? '';
          return (
            <List.Item key={key}>
              <code>{name}</code>{' '}
              {names.includes(name)
                ? 'has cosigned the newest checkpoint'
                : `has cosigned up to size ${size.toLocaleString()}`}
            </List.Item>
          );
        })}
      </List>
    </>
  );
};

const NewestTimeStamp = ({ log: { 'time-stamp': stamp, 'site-log': site } }: { readonly log: TrailLogStatus }) =>
  stamp && (
    <Text size="sm">
      The log of the site was time-stamped by {stamp.authority} at {formatExactTime(stamp['stamped-at'])} (
      <RelativeTime value={stamp['stamped-at']} />
      ), {stamp.size === site?.size ? 'with its newest checkpoint' : `up to size ${stamp.size.toLocaleString()}`}:{' '}
      <Anchor href={`/audit-trail-log/time-stamps/${stamp.id}/checkpoint`} download={`${stamp.id}.checkpoint`}>
        stamped checkpoint
      </Anchor>
      ,{' '}
      <Anchor href={`/audit-trail-log/time-stamps/${stamp.id}/checkpoint.tsr`} download={`${stamp.id}.tsr`}>
        time stamp
      </Anchor>
    </Text>
  );

const Forks = ({ log: { 'previous-origins': origins } }: { readonly log: TrailLogStatus }) =>
  origins.length > 0 && (
    <Alert color="yellow" variant="light" title="The log continues under another origin">
      <Text size="sm">
        The database was restored to an older state than the last checkpoint. The entry “fork” of “audit trail log” says
        why. Checkpoints of these origins are valid up to their last size:
      </Text>
      <List size="sm" mt="xs">
        {origins.map(({ origin, size, 'signed-at': signedAt }) => (
          <List.Item key={origin}>
            <code>{origin}</code>: {formatEntries(size)}, signed <RelativeTime value={signedAt} />
          </List.Item>
        ))}
      </List>
    </Alert>
  );

const LogState = ({ log }: { readonly log: TrailLogStatus }) => (
  <>
    <Forks log={log} />
    <FactList facts={listFacts(log)} />
    <Text size="sm">
      This key signs. Give it to auditors by another way than this server, so that they do not have to trust the server:
    </Text>
    <CodeBlock code={log['verifier-key']} label="the verifier key" />
    <Witnesses log={log} />
    <NewestTimeStamp log={log} />
    <Text size="sm" c="dimmed">
      This is what the server says. Open an entry to verify it in this browser. The pages “Verify an audit trail” and
      “Operate the log that proves audit trails” of the documentation describe how auditors verify everything.
    </Text>
  </>
);

/** The newest checkpoint of the log of a trail, its witnesses, and its forks. */
export const TrailLogCard = ({ organization }: { readonly organization: string }) => {
  const query = useQuery(trailLogStatusQuery(organization));
  return (
    <Card title="Log that proves the trail">
      <QueryState query={query} what="log" loading={<LoadingLines count={5} />}>
        {(log) =>
          log === null ? (
            <Text size="sm">
              No checkpoint was signed yet. The first one follows within ten seconds after an entry.
            </Text>
          ) : (
            <LogState log={log} />
          )
        }
      </QueryState>
    </Card>
  );
};

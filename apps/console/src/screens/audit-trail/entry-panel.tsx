import { Drawer, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { trailEntryQuery, type AuditTrailRow, type TrailEntryDetails, type TrailOwner } from '../../api/audit-trail.js';
import { FactList, type LabeledFact } from '../../components/card.js';
import { CodeBlock, CopyButton } from '../../components/copy.js';
import { useFocusReturn } from '../../components/focus-return.js';
import { ResourceName } from '../../components/resource-name.js';
import { QueryState } from '../../components/states.js';
import { formatExactTime, RelativeTime } from '../../components/times.js';
import { formatAction, formatSubject } from './action-words.js';
import type { TrailSearch } from './audit-trail.search.js';
import { EntryProof } from './entry-proof.js';
import classes from './audit-trail.module.css';

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Title order={3} size="h6" mb="xs" id={id}>
        {title}
      </Title>
      {children}
    </section>
  );
};

const Id = ({ value, label }: { readonly value: string; readonly label: string }) => (
  <Group gap={4} wrap="nowrap">
    <code>{value}</code>
    <CopyButton text={value} label={`Copy ${label}`} />
  </Group>
);

const listEntryFacts = ({ timestamp, auth, resource }: AuditTrailRow): readonly LabeledFact[] => [
  { label: 'Time', value: formatExactTime(timestamp) },
  { label: 'Relative time', value: <RelativeTime value={timestamp} /> },
  { label: 'Who', value: auth.description },
  { label: 'Account or token', value: <Id value={auth.accessor_id} label="the id of the account" /> },
  ...(auth.impersonator_id === null ? [] : [{ label: 'Impersonated by', value: <code>{auth.impersonator_id}</code> }]),
  { label: 'Type of resource', value: <code>{resource.type}</code> },
  { label: 'Action', value: <code>{resource.action}</code> },
  { label: 'Resource', value: <ResourceName id={resource.id} /> },
  { label: 'Id of the resource', value: <Id value={resource.id} label="the id of the resource" /> },
];

const listRequestFacts = ({ request, auth }: AuditTrailRow): readonly LabeledFact[] => [
  {
    label: 'Request id',
    value:
      request.id === null ? (
        auth.type === 'System' ? (
          'None: the server did this itself.'
        ) : (
          'None'
        )
      ) : (
        <Id value={request.id} label="the id of the request" />
      ),
  },
  { label: 'Address', value: request.address ?? 'Not recorded' },
  { label: 'Client', value: request.user_agent ?? 'Not recorded' },
];

const listEventFacts = ({ event }: TrailEntryDetails): readonly LabeledFact[] => [
  { label: 'Type', value: <code>{event.type}</code> },
  { label: 'Transaction', value: event.transaction },
  { label: 'Position in the log', value: event.position },
  { label: 'Stream', value: `${event.stream}, event ${event.version}` },
  {
    label: 'Kafka',
    value:
      event.topic === null ? (
        'This server publishes to no Kafka.'
      ) : (
        <>
          Topic <code>{event.topic}</code>, key <code>{event.stream}</code>
        </>
      ),
  },
  ...(event.causation_id === null ? [] : [{ label: 'Caused by event', value: <code>{event.causation_id}</code> }]),
];

type RelatedProps = {
  readonly organization: TrailOwner;
  readonly search: TrailSearch;
  readonly related: readonly AuditTrailRow[];
};

type EntryLinkProps = Omit<RelatedProps, 'related'> & { readonly id: string; readonly children: ReactNode };

const EntryLink = ({ organization, search, id, children }: EntryLinkProps) =>
  organization === null ? (
    <Link to="/~site/audit-trail" search={{ ...search, entry: id }} replace>
      {children}
    </Link>
  ) : (
    <Link to="/$organization/audit-trail" params={{ organization }} search={{ ...search, entry: id }} replace>
      {children}
    </Link>
  );

const RelatedEntries = ({ organization, search, related }: RelatedProps) =>
  related.length === 0 ? (
    <Text size="sm" c="dimmed">
      The request has no other entry.
    </Text>
  ) : (
    <ol className={classes['related']}>
      {related.map(({ id, timestamp, resource }) => (
        <li key={id}>
          <EntryLink organization={organization} search={search} id={id}>
            {formatSubject(resource)} {formatAction(resource.action)}
          </EntryLink>{' '}
          <Text span size="sm" c="dimmed">
            <ResourceName id={resource.id} />, <RelativeTime value={timestamp} />
          </Text>
        </li>
      ))}
    </ol>
  );

type StoryProps = Omit<RelatedProps, 'related'> & { readonly details: TrailEntryDetails };

const EntryStory = ({ organization, search, details }: StoryProps) => {
  const { data: entry, related } = details;
  return (
    <Stack gap="lg">
      <Title order={2} size="h4">
        {formatSubject(entry.resource)} {formatAction(entry.resource.action)}
      </Title>
      <Section title="What happened">
        <FactList facts={listEntryFacts(entry)} />
      </Section>
      {entry.resource.meta && (
        <Section title="Details">
          <CodeBlock code={JSON.stringify(entry.resource.meta, null, 2)} label="the details" />
        </Section>
      )}
      <Section title="Request">
        <FactList facts={listRequestFacts(entry)} />
      </Section>
      <Section title="Other entries of the request">
        <RelatedEntries organization={organization} search={search} related={related} />
      </Section>
      {organization !== null && (
        <Section title="Proof">
          <EntryProof organization={organization} entry={entry} />
        </Section>
      )}
      <Section title="Event">
        <FactList facts={listEventFacts(details)} />
      </Section>
      <Section title="Entry">
        <CodeBlock code={JSON.stringify(entry, null, 2)} label="the entry" />
      </Section>
    </Stack>
  );
};

type EntryPanelProps = {
  readonly organization: TrailOwner;
  readonly search: TrailSearch;
  readonly id: string;
  readonly onClose: () => void;
};

/** Everything about one entry. */
export const EntryPanel = ({ organization, search, id, onClose }: EntryPanelProps) => {
  const query = useQuery(trailEntryQuery(organization, id));
  useFocusReturn();
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title="Entry of the audit trail"
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ duration: 0 }}
      attributes={{ header: { role: 'none' } }}
    >
      <QueryState query={query} what="entry">
        {(details) => <EntryStory organization={organization} search={search} details={details} />}
      </QueryState>
    </Drawer>
  );
};

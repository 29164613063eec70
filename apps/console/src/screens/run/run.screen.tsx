import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { findIncluded } from '../../api/included.js';
import { runQuery, type RunDocument } from '../../api/runs.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { CopyButton } from '../../components/copy.js';
import { hasEnded, PlanCounts, RunStatusBadge } from '../../components/run-status.js';
import { QueryState } from '../../components/states.js';
import { RelativeTime } from '../../components/times.js';
import { RunActions } from './run-actions.js';
import { RunEvents } from './run-events.js';

const POLL_MS = 5_000;

const formatKind = ({ attributes }: RunDocument['data']): string => {
  if (attributes['is-destroy']) return 'Destroys all resources';
  if (attributes['refresh-only']) return 'Refreshes the state only';
  return attributes['plan-only'] ? 'Plans only' : 'Plans and applies';
};

const listFacts = (document: RunDocument): readonly LabeledFact[] => {
  const { id, attributes, relationships } = document.data;
  const plan = findIncluded(document, relationships.plan.data)?.attributes;
  const apply = findIncluded(document, relationships.apply.data)?.attributes;
  const confirmedBy = findIncluded(document, relationships['confirmed-by'].data);
  const counts = (done: NonNullable<typeof plan | typeof apply>) =>
    [done['resource-additions'], done['resource-changes'], done['resource-destructions']] as const;
  return [
    {
      label: 'Id',
      value: (
        <Group gap={4} wrap="nowrap">
          <code>{id}</code>
          <CopyButton text={id} label="Copy the id" />
        </Group>
      ),
    },
    { label: 'Status', value: <RunStatusBadge status={attributes.status} /> },
    ...(attributes.status === 'pending'
      ? [{ label: 'Runs ahead', value: attributes['position-in-queue'].toLocaleString() }]
      : []),
    { label: 'Kind', value: formatKind(document.data) },
    { label: 'Created', value: <RelativeTime value={attributes['created-at']} /> },
    {
      label: 'Created by',
      value: findIncluded(document, relationships['created-by'].data)?.attributes.username ?? 'somebody',
    },
    ...(confirmedBy ? [{ label: 'Confirmed by', value: confirmedBy.attributes.username }] : []),
    { label: 'Terraform version', value: attributes['terraform-version'] },
    {
      label: 'Plan',
      value: plan?.status === 'finished' ? <PlanCounts counts={counts(plan)} /> : (plan?.status ?? '–'),
    },
    {
      label: 'Apply',
      value: apply?.status === 'finished' ? <PlanCounts counts={counts(apply)} isDone /> : (apply?.status ?? '–'),
    },
  ];
};

type RunProps = { readonly organization: string; readonly workspace: string; readonly document: RunDocument };

const Run = ({ organization, workspace, document }: RunProps) => (
  <Stack>
    <Group justify="space-between" gap="sm">
      <Link to="/$organization/workspaces/$workspace/runs" params={{ organization, workspace }}>
        All runs
      </Link>
      <RunActions organization={organization} document={document} />
    </Group>
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title={document.data.attributes.message || 'Run'}>
        <FactList facts={listFacts(document)} />
      </Card>
      <Card title="What happened">
        <RunEvents organization={organization} run={document.data} />
      </Card>
    </SimpleGrid>
    <Text size="sm" c="dimmed">
      {hasEnded(document.data.attributes.status)
        ? 'The run has ended.'
        : 'This page shows changes within a few seconds.'}
    </Text>
  </Stack>
);

/** A run: its plan, what happened to it, and what the person may do. */
export const RunScreen = () => {
  const { organization, workspace, run } = useParams({ from: '/$organization/workspaces/$workspace/runs/$run' });
  const query = useQuery({
    ...runQuery(organization, run),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data.data.attributes.status) ? false : POLL_MS),
  });
  return (
    <QueryState query={query} what="run">
      {(document) => <Run organization={organization} workspace={workspace} document={document} />}
    </QueryState>
  );
};

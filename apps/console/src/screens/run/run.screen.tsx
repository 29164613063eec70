import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { findIncluded } from '../../api/included.js';
import { runQuery, type RunDocument } from '../../api/runs.js';
import { workspaceQuery } from '../../api/workspaces.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { CopyableId } from '../../components/copy.js';
import { LongText } from '../../components/long-text.js';
import { hasEnded, PlanCounts, RunStatusBadge } from '../../components/run-status.js';
import { NotFoundState, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { usePollInterval } from '../../live/live-state.js';
import { RunActions } from './run-actions.js';
import { RunEvents } from './run-events.js';

const POLL_MS = 5_000;

const formatKind = ({ attributes }: RunDocument['data']): string => {
  if (attributes['is-destroy']) return 'Destroys all resources';
  if (attributes['refresh-only']) return 'Refreshes the state only';
  return attributes['plan-only'] ? 'Plans only' : 'Plans and applies';
};

const listPhases = (document: RunDocument): readonly LabeledFact[] => {
  const { relationships } = document.data;
  const phases = [
    { label: 'Plan', phase: findIncluded(document, relationships.plan.data)?.attributes },
    { label: 'Apply', phase: findIncluded(document, relationships.apply.data)?.attributes },
  ];
  return phases.map(({ label, phase }) => {
    if (phase?.status !== 'finished') return { label, value: phase?.status ?? '–' };
    const counts = [phase['resource-additions'], phase['resource-changes'], phase['resource-destructions']] as const;
    return { label, value: <PlanCounts counts={counts} isDone={label === 'Apply'} /> };
  });
};

const listFacts = (document: RunDocument): readonly LabeledFact[] => {
  const { id, attributes, relationships } = document.data;
  const confirmedBy = findIncluded(document, relationships['confirmed-by'].data);
  return [
    ...(attributes.message ? [{ label: 'Message', value: <LongText text={attributes.message} /> }] : []),
    { label: 'Id', value: <CopyableId id={id} /> },
    { label: 'Status', value: <RunStatusBadge status={attributes.status} /> },
    ...(attributes.status === 'pending'
      ? [{ label: 'Runs ahead', value: attributes['position-in-queue'].toLocaleString() }]
      : []),
    { label: 'Kind', value: formatKind(document.data) },
    { label: 'Created', value: <Time value={attributes['created-at']} /> },
    {
      label: 'Created by',
      value: findIncluded(document, relationships['created-by'].data)?.attributes.username ?? 'somebody',
    },
    ...(confirmedBy ? [{ label: 'Confirmed by', value: confirmedBy.attributes.username }] : []),
    { label: 'Terraform version', value: attributes['terraform-version'] },
    ...listPhases(document),
  ];
};

type RunProps = { readonly organization: string; readonly workspace: string; readonly document: RunDocument };

const Run = ({ organization, workspace, document }: RunProps) => (
  <Stack>
    <Group justify="space-between" gap="sm">
      <Link to="/$organization/workspaces/$workspace/runs" params={{ organization, workspace }}>
        All runs
      </Link>
      <RunActions organization={organization} workspace={workspace} document={document} />
    </Group>
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title="Run">
        <FactList facts={listFacts(document)} />
      </Card>
      <Card title="What happened">
        <RunEvents organization={organization} run={document.data} />
      </Card>
    </SimpleGrid>
    {hasEnded(document.data.attributes.status) && (
      <Text size="sm" c="dimmed">
        The run has ended.
      </Text>
    )}
  </Stack>
);

/** Leads to the address of a run of another workspace. An address with the wrong workspace would hide what an apply changes. */
const OtherWorkspace = ({ document }: { readonly document: RunDocument }) => {
  const { id, relationships } = document.data;
  const workspace = findIncluded(document, relationships.workspace.data);
  if (!workspace) return <NotFoundState what="run" />;
  const organization = workspace.relationships.organization.data.id;
  const params = { organization, workspace: workspace.attributes.name, run: id };
  return <Navigate to="/$organization/workspaces/$workspace/runs/$run" params={params} replace />;
};

/** A run: its plan, what happened to it, and what the person may do. */
export const RunScreen = () => {
  const { organization, workspace, run } = useParams({ from: '/$organization/workspaces/$workspace/runs/$run' });
  const interval = usePollInterval(POLL_MS);
  const { data: parent } = useQuery(workspaceQuery(organization, workspace));
  const query = useQuery({
    ...runQuery(organization, run),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data.data.attributes.status) ? false : interval),
  });
  return (
    <QueryState query={query} what="run">
      {(document) =>
        document.data.relationships.workspace.data.id === parent?.data.id ? (
          <Run organization={organization} workspace={parent.data.attributes.name} document={document} />
        ) : (
          parent && <OtherWorkspace document={document} />
        )
      }
    </QueryState>
  );
};

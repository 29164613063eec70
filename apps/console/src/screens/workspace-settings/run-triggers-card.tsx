import { Checkbox, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { listRows } from '../../api/pages.js';
import { runTriggersQuery, useAddRunTrigger, useDeleteRunTrigger, type RunTrigger } from '../../api/run-triggers.js';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import { AddWorkspaceField } from '../../components/add-workspace-field.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { NeighborGraph } from '../../components/neighbor-graph.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { TextLink } from '../../components/text-link.js';
import { showToast } from '../../toasts.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

const NOBODY = 'No other workspace';

const getSourceName = ({ attributes }: RunTrigger): string => attributes['sourceable-name'] ?? '';
const getTargetName = ({ attributes }: RunTrigger): string => attributes['workspace-name'] ?? '';

/** Which applies start runs here, and where applies of this workspace start runs. */
const TriggerGraph = ({ organization, workspace: { data: workspace } }: WorkspaceCardProps) => {
  const inbound = useInfiniteQuery(runTriggersQuery(organization, workspace, 'inbound'));
  const outbound = useInfiniteQuery(runTriggersQuery(organization, workspace, 'outbound'));
  const [sources, targets] = [listRows(inbound.data), listRows(outbound.data)];
  if (sources.length + targets.length === 0) return null;
  return (
    <NeighborGraph
      organization={organization}
      screen="runs"
      name={workspace.attributes.name}
      left={{
        title: 'Runs start after applies of',
        nothing: NOBODY,
        neighbors: sources.map((trigger) => ({ id: trigger.id, name: getSourceName(trigger) })),
      }}
      right={{
        title: 'Applies start runs in',
        nothing: NOBODY,
        neighbors: targets.map((trigger) => ({ id: trigger.id, name: getTargetName(trigger) })),
      }}
    />
  );
};

/** The sources of the workspace. Each addition and removal is saved at once. */
const Sources = ({ organization, workspace: { data: workspace } }: WorkspaceCardProps) => {
  const query = useInfiniteQuery(runTriggersQuery(organization, workspace, 'inbound'));
  const addition = useAddRunTrigger(organization, workspace);
  const removal = useDeleteRunTrigger(organization, workspace);
  const confirm = (message: string) => ({ onSuccess: () => void showToast({ kind: 'success', message }) });
  const columns: readonly DataColumn<RunTrigger>[] = [
    {
      header: 'Source',
      cell: (trigger) => (
        <TextLink
          to="/$organization/workspaces/$workspace"
          params={{ organization, workspace: getSourceName(trigger) }}
        >
          {getSourceName(trigger)}
        </TextLink>
      ),
    },
  ];
  const listActions = (trigger: RunTrigger): RowActionsProps => {
    const name = getSourceName(trigger);
    const remove = (): void => removal.mutate(trigger.id, confirm(`Applies of ${name} start no runs here any more.`));
    return { name, actions: [{ action: 'Remove', isDangerous: true, onClick: remove }] };
  };
  const canChange = workspace.attributes.permissions['can-update'];
  const empty = (
    <Text size="sm" c="dimmed">
      Applies of other workspaces start no runs here. You see the workspaces whose runs you may read.
    </Text>
  );
  return (
    <>
      <FormProblems error={addition.error ?? removal.error} />
      <PagedList query={query} what="source" empty={empty}>
        {(rows) => (
          <DataTable
            label="Sources"
            isInCard
            rows={rows}
            columns={columns}
            actions={canChange ? listActions : undefined}
          />
        )}
      </PagedList>
      {canChange && (
        <AddWorkspaceField
          label="Add a source"
          organization={organization}
          own={workspace.id}
          onAdd={({ id, attributes: { name } }) => addition.mutate(id, confirm(`Applies of ${name} start runs here.`))}
        />
      )}
    </>
  );
};

/** The workspaces whose applies start runs in this one. */
export const RunTriggersCard = (props: WorkspaceCardProps) => {
  const { attributes } = props.workspace.data;
  const { mutate, ...state } = useUpdateWorkspace(props.organization, props.workspace.data);
  const form = useSettings(
    { 'auto-apply-run-trigger': attributes['auto-apply-run-trigger'] },
    { ...state, mutate: (changes, callbacks) => mutate({ attributes: changes }, callbacks) },
  );
  return (
    <SettingsCard title="Run triggers" form={form} canChange={attributes.permissions['can-update']} reason={CHANGERS}>
      <Text size="sm" c="dimmed">
        Each apply of a source starts a run in this workspace, with its current configuration.
      </Text>
      {attributes.permissions['can-read-run'] && (
        <>
          <TriggerGraph {...props} />
          <Sources {...props} />
          <TextLink to="/$organization/runs/triggers" params={{ organization: props.organization }}>
            All run triggers
          </TextLink>
        </>
      )}
      <Checkbox
        label="Apply these runs without a confirmation"
        description="The setting for other runs does not concern them."
        {...form.checkbox('auto-apply-run-trigger')}
      />
    </SettingsCard>
  );
};

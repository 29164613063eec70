import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunTask } from '../../api/run-tasks.js';
import { workspaceTasksQuery, type AttachedTask } from '../../api/workspace-tasks.js';
import type { Workspace } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { QueryState } from '../../components/states.js';
import { describeTaskScope } from '../../components/task-stages.js';
import type { WorkspaceCardProps } from './setting-card.js';

const loadDialogs = () => import('./workspace-task-dialogs.js');
const AttachTaskDialog = lazyComponent(loadDialogs, 'AttachTaskDialog');
const ChangeWorkspaceTaskDialog = lazyComponent(loadDialogs, 'ChangeWorkspaceTaskDialog');
const DetachTaskDialog = lazyComponent(loadDialogs, 'DetachTaskDialog');

const NO_CHANGE =
  'You need a team that may manage run tasks of this workspace or of the organization, or to be an owner of the organization.';

/** A run task that the runs of the workspace consult. At least one of `attached` and `isGlobal` is set. */
type ConsultedRunTask = {
  readonly id: string;
  readonly task: RunTask;
  readonly attached: AttachedTask | null;
  readonly isGlobal: boolean;
};

type WorkspaceTasks = { readonly tasks: readonly RunTask[]; readonly attached: readonly AttachedTask[] };

type OpenDialog =
  | { readonly kind: 'attach' }
  | { readonly kind: 'change' | 'detach'; readonly task: RunTask; readonly attached: AttachedTask }
  | null;

const listConsulted = ({ tasks, attached: all }: WorkspaceTasks): readonly ConsultedRunTask[] => {
  const attachedTo = new Map(all.map((attached) => [attached.relationships.task.data?.id, attached]));
  return tasks.flatMap((task) => {
    const attached = attachedTo.get(task.id) ?? null;
    const isGlobal = task.attributes['global-configuration'].enabled;
    return attached || isGlobal ? [{ id: task.id, task, attached, isGlobal }] : [];
  });
};

const Scope = ({ task, attached, isGlobal }: ConsultedRunTask) => {
  const global = task.attributes['global-configuration'];
  return (
    <>
      {attached &&
        describeTaskScope({ stages: attached.attributes.stages, level: attached.attributes['enforcement-level'] })}
      {isGlobal && (
        <Text size={attached ? 'xs' : 'sm'} c={attached ? 'dimmed' : undefined}>
          {describeTaskScope({ stages: global.stages, level: global['enforcement-level'] })}, in all workspaces
        </Text>
      )}
    </>
  );
};

const COLUMNS: readonly DataColumn<ConsultedRunTask>[] = [
  {
    header: 'Name',
    cell: ({ task: { attributes } }) => (
      <>
        {attributes.name}{' '}
        {!attributes.enabled && (
          <Badge color="gray" fw={600} px={6} lts={0}>
            Disabled
          </Badge>
        )}
      </>
    ),
  },
  { header: 'Requested', cell: (row) => <Scope {...row} /> },
];

type TasksProps = {
  readonly rows: readonly ConsultedRunTask[];
  readonly canChange: boolean;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const ConsultedTasks = ({ rows, canChange, onOpen }: TasksProps) => {
  const listActions = ({ task, attached }: ConsultedRunTask): RowActionsProps => ({
    name: task.attributes.name,
    actions: attached
      ? [
          { action: 'Change', onClick: () => onOpen({ kind: 'change', task, attached }) },
          { action: 'Detach', isDangerous: true, onClick: () => onOpen({ kind: 'detach', task, attached }) },
        ]
      : [],
  });
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        The runs of this workspace consult no service.
      </Text>
    );
  return (
    <DataTable label="Run tasks" isInCard rows={rows} columns={COLUMNS} actions={canChange ? listActions : undefined} />
  );
};

type DialogsProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  /** The tasks that are not attached. */
  readonly others: readonly RunTask[];
  readonly open: OpenDialog;
  readonly onClose: () => void;
};

const TaskDialogs = ({ open, others, ...common }: DialogsProps) => {
  if (open === null) return null;
  if (open.kind === 'attach') return <AttachTaskDialog {...common} tasks={others} />;
  const Dialog = open.kind === 'change' ? ChangeWorkspaceTaskDialog : DetachTaskDialog;
  return <Dialog {...common} task={open.task} attached={open.attached} />;
};

/** The services that the runs of the workspace consult. Each change is saved at once. */
export const RunTasksCard = ({ organization, workspace: { data: workspace } }: WorkspaceCardProps) => {
  const [open, setOpen] = useState<OpenDialog>(null);
  const { permissions } = workspace.attributes;
  const query = useQuery({ ...workspaceTasksQuery(organization, workspace), enabled: permissions['can-read-run'] });
  const canChange = permissions['can-manage-run-tasks'];
  const rows = query.data ? listConsulted(query.data) : [];
  const others = query.data?.tasks.filter(({ id }) => !rows.some((row) => row.attached && row.id === id)) ?? [];
  const attach = (
    <CreateButton
      size="xs"
      variant="default"
      label="Attach a run task"
      isPermitted={query.data && canChange}
      reason={NO_CHANGE}
      onClick={() => setOpen({ kind: 'attach' })}
    />
  );
  return (
    <Card title="Run tasks" actions={attach}>
      <Text size="sm" c="dimmed">
        Services that runs consult before and after their plans and applies. New runs have the tasks of the time when
        they are created.
      </Text>
      {permissions['can-read-run'] && (
        <QueryState query={query} what="list of run tasks">
          {() => <ConsultedTasks rows={rows} canChange={canChange} onOpen={setOpen} />}
        </QueryState>
      )}
      <TaskDialogs
        organization={organization}
        workspace={workspace}
        others={others}
        open={open}
        onClose={() => setOpen(null)}
      />
    </Card>
  );
};

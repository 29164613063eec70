import { Badge, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission } from '../../api/organizations.js';
import { runTasksQuery, type RunTask } from '../../api/run-tasks.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RunIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { describeTaskScope } from '../../components/task-stages.js';

const loadDialogs = () => import('./run-task-dialogs.js');
const CreateTaskDialog = lazyComponent(loadDialogs, 'CreateTaskDialog');
const ChangeTaskDialog = lazyComponent(loadDialogs, 'ChangeTaskDialog');
const DeleteTaskDialog = lazyComponent(loadDialogs, 'DeleteTaskDialog');

const NO_CHANGE = 'You need a team that may manage run tasks, or to be an owner of the organization.';

type OpenDialog = { readonly kind: 'create' } | { readonly kind: 'change' | 'delete'; readonly task: RunTask } | null;

const Scope = ({ task: { attributes, relationships } }: { readonly task: RunTask }) => {
  const global = attributes['global-configuration'];
  if (global.enabled)
    return (
      <>
        All workspaces
        <Text size="xs" c="dimmed">
          {describeTaskScope({ stages: global.stages, level: global['enforcement-level'] })}
        </Text>
      </>
    );
  return formatCount(relationships['workspace-tasks'].data.length, 'workspace', 'workspaces');
};

const COLUMNS: readonly DataColumn<RunTask>[] = [
  {
    header: 'Name',
    cell: ({ attributes }) => (
      <>
        {attributes.name}{' '}
        {!attributes.enabled && (
          <Badge color="gray" fw={600} px={6} lts={0}>
            Disabled
          </Badge>
        )}
        {attributes.description !== '' && (
          <Text size="xs" c="dimmed">
            {attributes.description}
          </Text>
        )}
      </>
    ),
  },
  { header: 'URL', cell: ({ attributes }) => attributes.url },
  { header: 'Runs of', cell: (task) => <Scope task={task} /> },
];

type TableProps = {
  readonly tasks: readonly RunTask[];
  /** Why the person may not change the tasks, if so. */
  readonly refusal: string | undefined;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const TaskTable = ({ tasks, refusal, onOpen }: TableProps) => (
  <DataTable
    label="Run tasks"
    rows={tasks}
    columns={COLUMNS}
    actions={(task) => ({
      name: task.attributes.name,
      actions: [
        { action: 'Change', refusal, onClick: () => onOpen({ kind: 'change', task }) },
        { action: 'Delete', isDangerous: true, refusal, onClick: () => onOpen({ kind: 'delete', task }) },
      ],
    })}
  />
);

const NoTask = () => (
  <EmptyState icon={RunIcon} title="There is no run task yet">
    <Text>
      A run task is a service that checks runs before or after their plans and applies, such as a scanner. It can stop
      them.
    </Text>
  </EmptyState>
);

type DialogsProps = { readonly organization: string; readonly open: OpenDialog; readonly onClose: () => void };

const TaskDialogs = ({ open, ...common }: DialogsProps) => {
  if (open === null) return null;
  if (open.kind === 'create') return <CreateTaskDialog {...common} />;
  const Dialog = open.kind === 'change' ? ChangeTaskDialog : DeleteTaskDialog;
  return <Dialog {...common} task={open.task} />;
};

/** The services that the runs of an organization can consult. */
export const RunTasksScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/run-tasks' });
  const [open, setOpen] = useState<OpenDialog>(null);
  const query = useInfiniteQuery(runTasksQuery(organization));
  const canChange = usePermission(organization, 'can-manage-run-tasks');
  return (
    <Page
      title="Run tasks"
      description="Services that runs consult before and after their plans and applies."
      actions={
        <CreateButton
          label="New run task"
          isPermitted={canChange}
          reason={NO_CHANGE}
          onClick={() => setOpen({ kind: 'create' })}
        />
      }
    >
      <PagedList query={query} what="organization" empty={<NoTask />}>
        {(tasks) => <TaskTable tasks={tasks} refusal={canChange === false ? NO_CHANGE : undefined} onOpen={setOpen} />}
      </PagedList>
      <TaskDialogs organization={organization} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
};

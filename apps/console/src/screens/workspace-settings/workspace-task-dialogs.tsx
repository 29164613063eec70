import { Select, Text } from '@mantine/core';
import type { ChosenStage, RunTask } from '../../api/run-tasks.js';
import {
  useAttachTask,
  useDetachTask,
  useUpdateWorkspaceTask,
  type AttachedTask,
  type AttachedTaskSettings,
} from '../../api/workspace-tasks.js';
import type { Workspace } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { toOption } from '../../components/search-select.js';
import { TaskScopeFields, type TaskLevel } from '../../components/task-stages.js';
import { TextLink } from '../../components/text-link.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly workspace: Workspace; readonly onClose: () => void };
type AttachProps = DialogProps & { readonly tasks: readonly RunTask[] };
type AttachedProps = DialogProps & { readonly task: RunTask; readonly attached: AttachedTask };

type ScopeValues = { readonly stages: readonly ChosenStage[]; readonly level: TaskLevel };

const NEW_SCOPE: ScopeValues = { stages: ['post_plan'], level: 'advisory' };

const toSettings = ({ stages, level }: ScopeValues): AttachedTaskSettings => ({
  'enforcement-level': level,
  stages: [...stages],
});

/** The error of the field of the stages, if there is one. */
const findStagesProblem = (stages: readonly ChosenStage[], error: Error | null): string | null =>
  stages.length === 0 ? 'Choose at least one stage.' : findFieldProblem(error, 'stages');

/** What a person reads who can attach nothing. */
const NothingToAttach = ({ organization }: { readonly organization: string }) => (
  <Text size="sm">
    The organization has no other run task.{' '}
    <TextLink underline="always" to="/$organization/settings/run-tasks" params={{ organization }}>
      See its run tasks
    </TextLink>
    .
  </Text>
);

/** Attaches a run task of the organization to the workspace. */
export const AttachTaskDialog = ({ organization, workspace, tasks, onClose }: AttachProps) => {
  const change = useAttachTask(organization, workspace);
  const form = useForm({ ...NEW_SCOPE, task: '' }, change);
  const { task, stages, level } = form.values;
  const name = tasks.find(({ id }) => id === task)?.attributes.name ?? '';
  const save = () =>
    change.mutate(
      { task, attributes: toSettings(form.values) },
      reportAndClose(`New runs of ${workspace.attributes.name} consult ${name}.`, onClose),
    );
  return (
    <FormDialog
      title="Attach a run task"
      action="Attach"
      isDisabled={task === '' || stages.length === 0}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      {tasks.length === 0 ? (
        <NothingToAttach organization={organization} />
      ) : (
        <Select
          label="Run task"
          required
          searchable
          data-autofocus
          data={tasks.map(toOption)}
          {...form.choice('task')}
          onChange={(chosen) => form.enter({ task: chosen ?? '' })}
        />
      )}
      <TaskScopeFields
        stages={stages}
        level={level}
        error={findStagesProblem(stages, form.error)}
        onChange={(scope) => form.enter(scope)}
      />
    </FormDialog>
  );
};

export const ChangeWorkspaceTaskDialog = ({ organization, workspace, task, attached, onClose }: AttachedProps) => {
  const { name } = task.attributes;
  const change = useUpdateWorkspaceTask(organization, { workspace, id: attached.id });
  const present = { stages: attached.attributes.stages, level: attached.attributes['enforcement-level'] };
  const form = useForm<ScopeValues>(present, change);
  const { stages, level } = form.values;
  const isStageChanged = stages.toSorted().join() !== present.stages.toSorted().join();
  // What the person has not changed stays as others have changed it.
  const changes = {
    ...(isStageChanged ? { stages: [...stages] } : {}),
    ...(level === present.level ? {} : { 'enforcement-level': level }),
  };
  const save = () => change.mutate(changes, reportAndClose(`The run task ${name} is saved.`, onClose));
  return (
    <FormDialog
      title={`Change ${name}`}
      action="Save"
      isDisabled={Object.keys(changes).length === 0 || stages.length === 0}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TaskScopeFields
        stages={stages}
        level={level}
        error={findStagesProblem(stages, form.error)}
        onChange={(scope) => form.enter(scope)}
      />
    </FormDialog>
  );
};

export const DetachTaskDialog = ({ organization, workspace, task, attached, onClose }: AttachedProps) => {
  const { name } = task.attributes;
  const detachment = useDetachTask(organization, { workspace, id: attached.id });
  const isGlobal = task.attributes['global-configuration'].enabled;
  return (
    <ConfirmDialog
      title={`Detach ${name}`}
      action="Detach"
      change={detachment}
      onConfirm={() =>
        detachment.mutate(undefined, reportAndClose(`The run task ${name} is detached from the workspace.`, onClose))
      }
      onClose={onClose}
    >
      {isGlobal
        ? 'New runs of this workspace consult the service only as those of all workspaces do.'
        : 'New runs of this workspace do not consult the service.'}{' '}
      Runs that exist still do.
    </ConfirmDialog>
  );
};

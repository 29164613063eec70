import { Checkbox, PasswordInput, TextInput } from '@mantine/core';
import {
  useCreateRunTask,
  useDeleteRunTask,
  useUpdateRunTask,
  type RunTask,
  type TaskSettings,
  type ChosenStage,
} from '../../api/run-tasks.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { listChanges, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { TaskScopeFields, type TaskLevel } from '../../components/task-stages.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };
type TaskDialogProps = DialogProps & { readonly task: RunTask };

type TaskValues = {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  /** The new key of the signature; empty keeps the present one. */
  readonly 'hmac-key': string;
  readonly isKeyRemoved: boolean;
  readonly enabled: boolean;
  readonly isGlobal: boolean;
  readonly stages: readonly ChosenStage[];
  readonly level: TaskLevel;
};

const NEW_TASK: TaskValues = {
  name: '',
  url: '',
  description: '',
  'hmac-key': '',
  isKeyRemoved: false,
  enabled: true,
  isGlobal: false,
  stages: ['post_plan'],
  level: 'advisory',
};

const toValues = ({ attributes }: RunTask): TaskValues => {
  const global = attributes['global-configuration'];
  return {
    ...NEW_TASK,
    name: attributes.name,
    url: attributes.url,
    description: attributes.description,
    enabled: attributes.enabled,
    isGlobal: global.enabled,
    // A task that has never been global has no stages.
    stages: global.stages.length > 0 ? global.stages : NEW_TASK.stages,
    level: global['enforcement-level'],
  };
};

const toGlobal = ({ isGlobal, stages, level }: TaskValues): TaskSettings['global-configuration'] =>
  isGlobal ? { enabled: true, stages: [...stages], 'enforcement-level': level } : { enabled: false };

/** Spaces at the ends can belong to the key. */
const toTask = ({ trimmed, values }: Pick<FieldsProps['form'], 'trimmed' | 'values'>): TaskValues => ({
  ...trimmed,
  'hmac-key': values['hmac-key'],
});

const toKey = (values: TaskValues): Pick<TaskSettings, 'hmac-key'> => {
  if (values.isKeyRemoved) return { 'hmac-key': '' };
  return values['hmac-key'] === '' ? {} : { 'hmac-key': values['hmac-key'] };
};

const toNewTask = (values: TaskValues): TaskSettings => ({
  name: values.name,
  url: values.url,
  description: values.description,
  enabled: values.enabled,
  category: 'task',
  'global-configuration': toGlobal(values),
  ...toKey(values),
});

/** Returns what the person has changed, so that the changes of other people stay. */
const toTaskChanges = (present: TaskValues, values: TaskValues): Partial<TaskSettings> => {
  const { name, url, description, enabled, isGlobal, stages, level } = listChanges(present, values);
  const isScopeChanged = isGlobal !== undefined || stages !== undefined || level !== undefined;
  return {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(isScopeChanged ? { 'global-configuration': toGlobal(values) } : {}),
    ...toKey(values),
  };
};

/** A task of all workspaces that has no stage would never be requested. */
const lacksStage = ({ isGlobal, stages }: TaskValues): boolean => isGlobal && stages.length === 0;

type FieldsProps = { readonly form: ReturnType<typeof useForm<TaskValues>>; readonly isNew: boolean };

/** The API never returns the key, and does not say whether there is one. */
const KeyField = ({ form, isNew }: FieldsProps) => (
  <>
    <PasswordInput
      label="HMAC key"
      description={`Your service checks with it that a request is from this server. Nobody can read it again.${isNew ? '' : ' An empty field keeps the present key.'}`}
      disabled={form.values.isKeyRemoved}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
      {...form.text('hmac-key')}
      autoComplete="new-password"
    />
    {!isNew && (
      <Checkbox
        label="Send requests without a signature"
        description="Removes the present key."
        checked={form.values.isKeyRemoved}
        onChange={(event) => form.enter({ isKeyRemoved: event.currentTarget.checked, 'hmac-key': '' })}
      />
    )}
  </>
);

const TaskFields = ({ form, isNew }: FieldsProps) => {
  const { stages, level, isGlobal } = form.values;
  return (
    <>
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <TextInput
        label="URL"
        description="The server sends a test to the service before it saves. The service must answer 200."
        required
        inputMode="url"
        spellCheck={false}
        placeholder="https://scanner.example.com/terraform"
        {...form.text('url')}
      />
      <KeyField form={form} isNew={isNew} />
      <TextInput label="Description" {...form.text('description')} />
      <Checkbox label="Enabled" description="Runs skip a task that is off." {...form.checkbox('enabled')} />
      <Checkbox
        label="All workspaces"
        description="The task belongs to every workspace of the organization. Otherwise workspaces choose it."
        {...form.checkbox('isGlobal')}
      />
      {isGlobal && (
        <TaskScopeFields
          stages={stages}
          level={level}
          error={stages.length === 0 ? 'Choose at least one stage.' : findFieldProblem(form.error, 'stages')}
          onChange={(scope) => form.enter(scope)}
        />
      )}
    </>
  );
};

export const CreateTaskDialog = ({ organization, onClose }: DialogProps) => {
  const change = useCreateRunTask(organization);
  const form = useForm(NEW_TASK, change);
  const { trimmed } = form;
  const save = () =>
    change.mutate(toNewTask(toTask(form)), reportAndClose(`The run task ${trimmed.name} is created.`, onClose));
  return (
    <FormDialog
      title="New run task"
      action="Create"
      isDisabled={lacksStage(trimmed)}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TaskFields form={form} isNew />
    </FormDialog>
  );
};

export const ChangeTaskDialog = ({ organization, task, onClose }: TaskDialogProps) => {
  const change = useUpdateRunTask(organization, task.id);
  const present = toValues(task);
  const form = useForm(present, change);
  const changes = toTaskChanges(present, toTask(form));
  const save = () => change.mutate(changes, reportAndClose(`The run task ${form.trimmed.name} is saved.`, onClose));
  return (
    <FormDialog
      title={`Change ${task.attributes.name}`}
      action="Save"
      isDisabled={Object.keys(changes).length === 0 || lacksStage(form.values)}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TaskFields form={form} isNew={false} />
    </FormDialog>
  );
};

export const DeleteTaskDialog = ({ organization, task, onClose }: TaskDialogProps) => {
  const { name } = task.attributes;
  const deletion = useDeleteRunTask(organization, task.id);
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The run task ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      New runs do not consult this service, and workspaces lose the task. You cannot undo this, because nobody can read
      the key of the signature.
    </ConfirmDialog>
  );
};

import { Checkbox, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  useChangeVariable,
  type ConsoleVariable,
  type VariableChange,
  type VariableFormBody,
} from '../../api/variables.js';
import type { Workspace } from '../../api/workspaces.js';
import { ChangedNotice } from '../../components/changed-notice.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

const FIELDS = ['key', 'value', 'description'];

const CATEGORIES = [
  { value: 'terraform', label: 'Terraform' },
  { value: 'env', label: 'Environment' },
];

type VariableDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  /** The variable as it is now. Null for a new variable. */
  readonly variable: ConsoleVariable | null;
  readonly onClose: () => void;
};

type FormValues = Required<{ [K in keyof VariableFormBody]: NonNullable<VariableFormBody[K]> }>;

const NEW_VALUES: FormValues = {
  key: '',
  value: '',
  description: '',
  category: 'terraform',
  hcl: false,
  sensitive: false,
};

const toFormValues = (variable: ConsoleVariable | null): FormValues => {
  if (!variable) return NEW_VALUES;
  const { key, value, description, category, hcl, sensitive } = variable.attributes;
  return { key, value: value ?? '', description: description ?? '', category, hcl, sensitive };
};

type FormField = keyof FormValues;
const LABELS: Readonly<Partial<Record<FormField, string>>> = {
  key: 'key',
  value: 'value',
  description: 'description',
  hcl: 'setting HCL',
  sensitive: 'setting Sensitive',
};

/** Returns the fields that differ. An empty field for the value of a sensitive variable keeps the value. */
const listChanges = (present: FormValues, values: FormValues): Partial<FormValues> =>
  Object.fromEntries(Object.entries(values).filter(([field, value]) => value !== present[field as FormField]));

const formatPresent = (value: string | boolean): string => {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value === '' ? 'empty' : value;
};

type OutdatedProps = {
  readonly opened: ConsoleVariable;
  readonly present: ConsoleVariable;
  readonly entered: Partial<FormValues>;
  readonly onReset: () => void;
};

/** Somebody has changed the variable while the person was typing. */
const OutdatedNotice = ({ opened, present, entered, onReset }: OutdatedProps) => {
  const changed = listChanges(toFormValues(opened), toFormValues(present));
  const conflicts = Object.entries(changed).filter(([field]) => entered[field as FormField] !== undefined);
  return (
    <ChangedNotice what="variable" onReset={onReset}>
      The fields that you have not changed show the present values.
      {conflicts.map(([field, value]) => ` The ${LABELS[field as FormField] ?? field} is now ${formatPresent(value)}.`)}
      {present.attributes.sensitive && entered.value ? ' Nobody can read whether the value is another one now.' : ''}
      {Object.keys(entered).length > 0 ? ' If you save, your changes replace what is there.' : ''}
    </ChangedNotice>
  );
};

type FieldsProps = {
  readonly values: FormValues;
  readonly isNew: boolean;
  readonly wasSensitive: boolean;
  readonly error: Error | null;
  readonly onChange: (values: Partial<FormValues>) => void;
};

const VariableFields = ({ values, isNew, wasSensitive, error, onChange }: FieldsProps) => (
  <>
    {isNew && (
      <SegmentedControl
        transitionDuration={0}
        aria-label="Category"
        data={CATEGORIES}
        value={values.category}
        onChange={(category) => onChange({ category: category as FormValues['category'] })}
      />
    )}
    <TextInput
      label="Key"
      description={wasSensitive ? 'The key of a sensitive variable cannot change.' : undefined}
      required
      disabled={wasSensitive}
      data-autofocus={isNew || undefined}
      autoComplete="off"
      value={values.key}
      onChange={(event) => onChange({ key: event.currentTarget.value })}
      error={findFieldProblem(error, 'key')}
    />
    <Textarea
      label="Value"
      description={wasSensitive ? 'An empty field keeps the present value.' : undefined}
      data-autofocus={!isNew || undefined}
      autosize
      minRows={1}
      maxRows={10}
      autoComplete="off"
      spellCheck={false}
      value={values.value}
      onChange={(event) => onChange({ value: event.currentTarget.value })}
      error={findFieldProblem(error, 'value')}
    />
    <TextInput
      label="Description"
      autoComplete="off"
      value={values.description}
      onChange={(event) => onChange({ description: event.currentTarget.value })}
      error={findFieldProblem(error, 'description')}
    />
    <Checkbox
      label="HCL"
      description="The value is an expression, such as a list or a map."
      checked={values.hcl}
      onChange={(event) => onChange({ hcl: event.currentTarget.checked })}
    />
    <Checkbox
      label="Sensitive"
      description={
        wasSensitive ? 'A sensitive variable stays sensitive.' : 'Nobody can read the value again, not even you.'
      }
      disabled={wasSensitive}
      checked={values.sensitive}
      onChange={(event) => onChange({ sensitive: event.currentTarget.checked })}
    />
  </>
);

const useVariableForm = ({ organization, workspace, variable, onClose }: VariableDialogProps) => {
  const [opened, setOpened] = useState(variable);
  const [entered, setEntered] = useState<Partial<FormValues>>({});
  const present = toFormValues(variable);
  const values = { ...present, ...entered };
  const change = useChangeVariable(organization, workspace.attributes.name, workspace.id);
  const send = (body: VariableChange) => {
    const onSuccess = (outcome: 'changed' | 'outdated') => {
      if (outcome === 'outdated') return;
      showToast({ kind: 'success', message: `The variable ${values.key} is saved.` });
      onClose();
    };
    change.mutate(body, { onSuccess });
  };
  return {
    opened,
    entered: listChanges(present, values),
    values,
    error: change.error,
    isPending: change.isPending,
    // The saved variable is another version too.
    isOutdated:
      !change.isPending &&
      change.data !== 'changed' &&
      opened?.attributes['version-id'] !== variable?.attributes['version-id'],
    enter: (changes: Partial<FormValues>) => setEntered({ ...entered, ...changes }),
    reset: () => {
      setEntered({});
      setOpened(variable);
    },
    save: () => {
      if (!variable) return send({ action: 'create', attributes: values });
      const attributes = listChanges(present, values);
      return Object.keys(attributes).length === 0 ? onClose() : send({ action: 'update', variable, attributes });
    },
  };
};

/** Creates a variable of the workspace, or changes one. */
export const VariableDialog = (props: VariableDialogProps) => {
  const { variable, onClose } = props;
  const form = useVariableForm(props);
  const { opened } = form;
  return (
    <FormDialog
      title={variable ? `Change ${variable.attributes.key}` : 'New variable'}
      action="Save"
      isPending={form.isPending}
      error={form.error}
      fields={FIELDS}
      onSubmit={form.save}
      onClose={onClose}
    >
      {form.isOutdated && opened && variable && (
        <OutdatedNotice opened={opened} present={variable} entered={form.entered} onReset={form.reset} />
      )}
      <VariableFields
        values={form.values}
        isNew={variable === null}
        wasSensitive={variable?.attributes.sensitive ?? false}
        error={form.error}
        onChange={form.enter}
      />
    </FormDialog>
  );
};

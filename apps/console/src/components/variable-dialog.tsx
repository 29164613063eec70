import { Checkbox, SegmentedControl, Switch, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ConsoleVariable, VariableChange, VariableFormBody, VariableMutation } from '../api/variables.js';
import { showToast } from '../toasts.js';
import { ChangedNotice } from './changed-notice.js';
import { listChanges, useForm } from './form.js';
import { FormDialog } from './form-dialog.js';

const CATEGORIES = [
  { value: 'terraform', label: 'Terraform' },
  { value: 'env', label: 'Environment' },
];

type VariableDialogProps = {
  /** Changes variables of the workspace or of the set. */
  readonly change: VariableMutation;
  /** The variable as it is now. Null for a new variable. */
  readonly variable: ConsoleVariable | null;
  readonly onClose: () => void;
};

/** The fields that show their own problems. The choice of the category shows none. */
const FIELDS = ['key', 'value', 'description', 'hcl', 'sensitive'];

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
  category: 'category',
  key: 'key',
  value: 'value',
  description: 'description',
  hcl: 'setting HCL',
  sensitive: 'setting Sensitive',
};

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
  readonly form: ReturnType<typeof useForm<FormValues>>;
  readonly isNew: boolean;
  readonly wasSensitive: boolean;
};

const VariableFields = ({ form, isNew, wasSensitive }: FieldsProps) => (
  <>
    <SegmentedControl
      transitionDuration={0}
      aria-label="Category"
      data={CATEGORIES}
      value={form.values.category}
      onChange={(category) => form.enter({ category: category as FormValues['category'] })}
    />
    <TextInput
      label="Key"
      description={wasSensitive ? 'The key of a sensitive variable cannot change.' : undefined}
      required
      disabled={wasSensitive}
      data-autofocus={isNew || undefined}
      {...form.text('key')}
    />
    <Textarea
      label={wasSensitive ? 'New value' : 'Value'}
      description={wasSensitive ? 'Nobody can read the present value. An empty field keeps it.' : undefined}
      data-autofocus={!isNew || undefined}
      autosize
      minRows={1}
      maxRows={10}
      spellCheck={false}
      {...form.text('value')}
    />
    <TextInput label="Description" {...form.text('description')} />
    {(form.values.category === 'terraform' || form.values.hcl) && (
      <Switch label="HCL" description="For an expression, such as a list or a map." {...form.checkbox('hcl')} />
    )}
    <Checkbox
      label="Sensitive"
      description={
        wasSensitive ? 'A sensitive variable stays sensitive.' : 'Nobody can read the value again, not even you.'
      }
      disabled={wasSensitive}
      {...form.checkbox('sensitive')}
    />
  </>
);

const useVariableForm = ({ change, variable, onClose }: VariableDialogProps) => {
  const [opened, setOpened] = useState(variable);
  const present = toFormValues(variable);
  const form = useForm(present, change);
  const entered = listChanges(present, form.values);
  const send = (body: VariableChange) => {
    const onSuccess = (outcome: 'changed' | 'outdated') => {
      if (outcome === 'outdated') return;
      showToast({ kind: 'success', message: `The variable ${form.values.key} is saved.` });
      onClose();
    };
    change.mutate(body, { onSuccess });
  };
  return {
    form: { ...form, fields: FIELDS },
    opened,
    entered,
    // The saved variable is another version too.
    isOutdated:
      !change.isPending &&
      change.data !== 'changed' &&
      opened?.attributes['version-id'] !== variable?.attributes['version-id'],
    reset: () => {
      form.reset();
      setOpened(variable);
    },
    save: () => {
      if (!variable) return send({ action: 'create', attributes: form.values });
      return Object.keys(entered).length === 0 ? onClose() : send({ action: 'update', variable, attributes: entered });
    },
  };
};

/** Creates a variable of a workspace or of a variable set, or changes one. */
export const VariableDialog = (props: VariableDialogProps) => {
  const { variable, onClose } = props;
  const { form, opened, entered, isOutdated, reset, save } = useVariableForm(props);
  return (
    <FormDialog
      title={variable ? `Change ${variable.attributes.key}` : 'New variable'}
      action="Save"
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      {isOutdated && opened && variable && (
        <OutdatedNotice opened={opened} present={variable} entered={entered} onReset={reset} />
      )}
      <VariableFields form={form} isNew={variable === null} wasSensitive={variable?.attributes.sensitive ?? false} />
    </FormDialog>
  );
};

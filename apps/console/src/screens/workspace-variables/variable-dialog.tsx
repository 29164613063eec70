import { Checkbox, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { useChangeVariable, type ConsoleVariable, type VariableFormBody } from '../../api/variables.js';
import type { Workspace } from '../../api/workspaces.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

const FIELDS = ['key', 'value', 'description'];

const CATEGORIES = [
  { value: 'terraform', label: 'Terraform' },
  { value: 'env', label: 'Environment' },
];

type VariableDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  /** Null for a new variable. */
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

/** The value of a sensitive variable is not known here. An empty field keeps it. */
const toAttributes = (values: FormValues, wasSensitive: boolean): VariableFormBody => {
  if (!wasSensitive) return values;
  const { key: _, value, ...rest } = values;
  return { ...rest, ...(value === '' ? {} : { value }) } as VariableFormBody;
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
        wasSensitive ? 'A sensitive variable stays sensitive.' : 'Nobody can read the value again, you included.'
      }
      disabled={wasSensitive}
      checked={values.sensitive}
      onChange={(event) => onChange({ sensitive: event.currentTarget.checked })}
    />
  </>
);

/** Creates a variable of the workspace, or changes one. */
export const VariableDialog = ({ organization, workspace, variable, onClose }: VariableDialogProps) => {
  const [values, setValues] = useState(() => toFormValues(variable));
  const wasSensitive = variable?.attributes.sensitive ?? false;
  const change = useChangeVariable(organization, workspace.attributes.name, workspace.id);
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    const attributes = toAttributes(values, wasSensitive);
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The variable ${values.key} is saved.` });
      onClose();
    };
    change.mutate(
      variable ? { action: 'update', variable: variable.id, attributes } : { action: 'create', attributes },
      { onSuccess },
    );
  };
  return (
    <Dialog onClose={onClose} title={variable ? `Change ${variable.attributes.key}` : 'New variable'}>
      <form onSubmit={save}>
        <Stack>
          <FormProblems error={change.error} fields={FIELDS} />
          <VariableFields
            values={values}
            isNew={variable === null}
            wasSensitive={wasSensitive}
            error={change.error}
            onChange={(changes) => setValues({ ...values, ...changes })}
          />
          <DialogActions action="Save" isPending={change.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
};

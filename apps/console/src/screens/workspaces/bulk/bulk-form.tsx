import { Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { targetProjectQuery } from '../../../api/bulk-changes.js';
import { ProjectSelect } from '../../../components/project-select.js';
import { LockReasonField } from '../../../components/lock-reason-field.js';
import type { BulkAction } from './bulk-plan.js';

/** What the person enters. `project`: the id of a project, or null. */
export type BulkFields = {
  readonly reason: string;
  readonly key: string;
  readonly value: string;
  readonly project: string | null;
};

export const NO_FIELDS: BulkFields = { reason: '', key: '', value: '', project: null };

/** Reads the project that the person has chosen. */
export const useTargetProject = (organization: string, project: string | null) =>
  useQuery({ ...targetProjectQuery(organization, project ?? ''), enabled: project !== null });

type FormProps = {
  readonly organization: string;
  readonly action: BulkAction;
  readonly fields: BulkFields;
  readonly onChange: (changes: Partial<BulkFields>) => void;
};

const TagFields = ({ action, fields: { key, value }, onChange }: FormProps) => (
  <Group grow align="flex-start">
    <TextInput
      label="Key"
      description="At most 128 letters (a to z), digits, spaces and _ . = + @ : -"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      required
      data-autofocus
      autoComplete="off"
      placeholder="env"
      value={key}
      onChange={(event) => onChange({ key: event.currentTarget.value })}
    />
    <TextInput
      label={action === 'add-tag' ? 'Value' : 'Only with this value'}
      autoComplete="off"
      placeholder={action === 'add-tag' ? 'prod' : 'any value'}
      value={value}
      onChange={(event) => onChange({ value: event.currentTarget.value })}
    />
  </Group>
);

/** The fields of an action. */
export const BulkForm = (props: FormProps) => {
  const { organization, action, fields, onChange } = props;
  if (action === 'unlock') return null;
  if (action === 'add-tag' || action === 'remove-tag') return <TagFields {...props} />;
  if (action === 'move') {
    return (
      <ProjectSelect
        organization={organization}
        label="Project"
        placeholder="Choose a project"
        value={fields.project}
        onChange={(project) => onChange({ project })}
      />
    );
  }
  return <LockReasonField value={fields.reason} onChange={(reason) => onChange({ reason })} />;
};

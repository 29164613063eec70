import { TextInput } from '@mantine/core';
import { useAddFactSource, useRemoveFactSource, type FactSource } from '../../api/organization-policies.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type AddProps = { readonly organization: string; readonly onClose: () => void };

export const AddSourceDialog = ({ organization, onClose }: AddProps) => {
  const change = useAddFactSource(organization);
  const form = useForm({ source: '', description: '' }, change);
  const { trimmed } = form;
  const add = () => change.mutate(trimmed, reportAndClose(`${trimmed.source} may report facts.`, onClose));
  return (
    <FormDialog title="Add a fact source" action="Add" form={form} onSubmit={add} onClose={onClose}>
      <TextInput
        label="Source"
        description="The source in the CloudEvents of the service."
        placeholder="https://policies.example"
        required
        data-autofocus
        spellCheck={false}
        {...form.text('source')}
      />
      <TextInput label="Description" {...form.text('description')} />
    </FormDialog>
  );
};

type RemoveProps = AddProps & { readonly source: FactSource };

export const RemoveSourceDialog = ({ organization, source: { id, attributes }, onClose }: RemoveProps) => {
  const { source, description } = attributes;
  const change = useRemoveFactSource(organization);
  const addition = useAddFactSource(organization);
  const undo = () => addition.mutate({ source, description });
  return (
    <ConfirmDialog
      title={`Remove ${source}`}
      action="Remove"
      change={change}
      onConfirm={() => change.mutate(id, reportAndClose(`${source} may report no facts any more.`, onClose, undo))}
      onClose={onClose}
    >
      The server rejects facts that the service reports from now on. Those that it has reported stay in the trail.
    </ConfirmDialog>
  );
};

import { Checkbox, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCreateVariableSet, type NewVariableSet } from '../../api/variable-sets.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { ProjectSelect } from '../../components/project-select.js';
import { showToast } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

const NEW_SET: NewVariableSet = { name: '', description: '', global: false, priority: false, parent: null };

/** Creates a set without variables, and opens it. */
export const CreateVariableSetDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const change = useCreateVariableSet(organization);
  const form = useForm(NEW_SET, change);
  const create = () => {
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: `The variable set ${form.trimmed.name} is created.` });
      void navigate({ to: '/$organization/settings/variable-sets/$set', params: { organization, set: id } });
    };
    change.mutate(form.trimmed, { onSuccess });
  };
  return (
    <FormDialog title="New variable set" action="Create" form={form} onSubmit={create} onClose={onClose}>
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <TextInput label="Description" {...form.text('description')} />
      <ProjectSelect
        organization={organization}
        label="Project that owns the set"
        description="People with admin or maintain access to the project can then change the set. It cannot change later."
        placeholder="The organization owns it"
        {...form.choice('parent')}
      />
      <Checkbox
        label="Apply to all workspaces"
        description="Of the organization, including later ones."
        disabled={form.values.parent !== null}
        {...form.checkbox('global')}
      />
      <Checkbox
        label="Priority"
        description="Its variables override those of workspaces and other sets with the same key."
        {...form.checkbox('priority')}
      />
    </FormDialog>
  );
};

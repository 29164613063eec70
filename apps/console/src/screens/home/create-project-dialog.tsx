import { Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCreateProject } from '../../api/projects.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { showToast } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

/** Creates a project, and opens the list of its workspaces, where the person creates the first one. */
export const CreateProjectDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const creation = useCreateProject(organization);
  const form = useForm({ name: '', description: '' }, creation);
  const create = () => {
    const { name, description } = form.trimmed;
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: `The project ${name} is created.` });
      void navigate({ to: '/$organization/workspaces', params: { organization }, search: { project: id } });
    };
    creation.mutate({ name, description: description || null }, { onSuccess });
  };
  return (
    <FormDialog title="New project" action="Create" form={form} onSubmit={create} onClose={onClose}>
      <TextInput
        label="Name"
        description="Teams get access to all workspaces of a project at once."
        required
        data-autofocus
        {...form.text('name')}
      />
      <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.text('description')} />
    </FormDialog>
  );
};

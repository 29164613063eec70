import { Textarea } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCreateProject } from '../../api/projects.js';
import { FormDialog } from '../../components/form-dialog.js';
import { NameField } from '../../components/name-field.js';
import { findFieldProblem } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

/** Creates a project, and opens the list of its workspaces, where the person creates the first one. */
export const CreateProjectDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const creation = useCreateProject(organization);
  const create = () => {
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: `The project ${name.trim()} is created.` });
      void navigate({ to: '/$organization/workspaces', params: { organization }, search: { project: id } });
    };
    creation.mutate({ name: name.trim(), description: description.trim() || null }, { onSuccess });
  };
  return (
    <FormDialog
      title="New project"
      action="Create"
      isPending={creation.isPending}
      error={creation.error}
      fields={['name', 'description']}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField
        value={name}
        description="Teams get access to all workspaces of a project at once."
        error={creation.error}
        onChange={setName}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={8}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={findFieldProblem(creation.error, 'description')}
      />
    </FormDialog>
  );
};

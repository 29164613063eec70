import { Stack, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { useCreateProject } from '../../api/projects.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

/** Creates a project, and opens the list of its workspaces, where the person creates the first one. */
export const CreateProjectDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const creation = useCreateProject(organization);
  const create = (event: SyntheticEvent) => {
    event.preventDefault();
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: `The project ${name.trim()} is created.` });
      void navigate({ to: '/$organization/workspaces', params: { organization }, search: { project: id } });
    };
    creation.mutate({ name: name.trim(), description: description.trim() || null }, { onSuccess });
  };
  return (
    <Dialog onClose={onClose} title="New project">
      <form onSubmit={create}>
        <Stack>
          <FormProblems error={creation.error} fields={['name', 'description']} />
          <TextInput
            label="Name"
            description="Teams get access to all workspaces of a project at once."
            required
            data-autofocus
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={findFieldProblem(creation.error, 'name')}
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
          <DialogActions action="Create" isPending={creation.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
};

import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useChangeVariable, type ConsoleVariable } from '../../api/variables.js';
import type { Workspace } from '../../api/workspaces.js';
import { FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type DeleteDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly variable: ConsoleVariable;
  readonly onClose: () => void;
};

export const DeleteVariableDialog = ({ organization, workspace, variable, onClose }: DeleteDialogProps) => {
  const { key } = variable.attributes;
  const change = useChangeVariable(organization, workspace.attributes.name, workspace.id);
  const destroy = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The variable ${key} is deleted.` });
      onClose();
    };
    change.mutate({ action: 'delete', variable: variable.id }, { onSuccess });
  };
  return (
    <Modal opened onClose={onClose} title={`Delete ${key}`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        <FormProblems error={change.error} />
        <Text size="sm">The next run no longer has this variable. The server cannot restore its value.</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={change.isPending} onClick={destroy}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

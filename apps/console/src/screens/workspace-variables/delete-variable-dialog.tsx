import { Text } from '@mantine/core';
import { useChangeVariable, type ConsoleVariable } from '../../api/variables.js';
import type { Workspace } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { showToast } from '../../components/toasts.js';

type DeleteDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly variable: ConsoleVariable;
  readonly onClose: () => void;
};

export const DeleteVariableDialog = ({ organization, workspace, variable, onClose }: DeleteDialogProps) => {
  const { key, value, category, hcl, sensitive, description } = variable.attributes;
  const change = useChangeVariable(organization, workspace.attributes.name, workspace.id);
  const destroy = () => {
    const onSuccess = () => {
      const attributes = { key, value: value ?? '', category, hcl, sensitive, description };
      showToast({
        kind: 'success',
        message: `The variable ${key} is deleted.`,
        undo: sensitive ? undefined : () => change.mutate({ action: 'create', attributes }),
      });
      onClose();
    };
    change.mutate({ action: 'delete', variable: variable.id }, { onSuccess });
  };
  return (
    <ConfirmDialog
      title={`Delete ${key}`}
      action="Delete"
      error={change.error}
      isPending={change.isPending}
      onConfirm={destroy}
      onClose={onClose}
    >
      <Text size="sm">
        The next run no longer has this variable.
        {sensitive && ' Nobody can restore its value, because it is sensitive.'}
      </Text>
    </ConfirmDialog>
  );
};

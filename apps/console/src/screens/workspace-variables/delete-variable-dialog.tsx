import { useChangeVariable, type ConsoleVariable } from '../../api/variables.js';
import type { Workspace } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DeleteDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly variable: ConsoleVariable;
  readonly onClose: () => void;
};

export const DeleteVariableDialog = ({ organization, workspace, variable, onClose }: DeleteDialogProps) => {
  const { key, value, category, hcl, sensitive, description } = variable.attributes;
  const change = useChangeVariable(organization, workspace.attributes.name, workspace.id);
  const attributes = { key, value: value ?? '', category, hcl, sensitive, description };
  const undo = sensitive ? undefined : () => change.mutate({ action: 'create', attributes });
  const destroy = () =>
    change.mutate(
      { action: 'delete', variable: variable.id },
      reportAndClose(`The variable ${key} is deleted.`, onClose, undo),
    );
  return (
    <ConfirmDialog title={`Delete ${key}`} action="Delete" change={change} onConfirm={destroy} onClose={onClose}>
      The next run no longer has this variable.
      {sensitive && ' Nobody can restore its value, because it is sensitive.'}
    </ConfirmDialog>
  );
};

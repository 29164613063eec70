import type { ConsoleVariable, VariableMutation } from '../api/variables.js';
import { reportAndClose } from '../toasts.js';
import { ConfirmDialog } from './confirm-dialog.js';

type DeleteDialogProps = {
  /** Changes variables of the workspace or of the set. */
  readonly change: VariableMutation;
  readonly variable: ConsoleVariable;
  readonly onClose: () => void;
};

export const DeleteVariableDialog = ({ change, variable, onClose }: DeleteDialogProps) => {
  const { key, value, category, hcl, sensitive, description } = variable.attributes;
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

import { useChangeSetVariable } from '../../api/variable-sets.js';
import type { ConsoleVariable } from '../../api/variables.js';
import { DeleteVariableDialog } from '../../components/delete-variable-dialog.js';
import { VariableDialog } from '../../components/variable-dialog.js';

type DialogProps<V> = {
  readonly organization: string;
  /** The id of the variable set. */
  readonly set: string;
  readonly variable: V;
  readonly onClose: () => void;
};

export const SetVariableDialog = ({ organization, set, ...props }: DialogProps<ConsoleVariable | null>) => (
  <VariableDialog {...props} change={useChangeSetVariable(organization, set)} />
);

export const DeleteSetVariableDialog = ({ organization, set, ...props }: DialogProps<ConsoleVariable>) => (
  <DeleteVariableDialog {...props} change={useChangeSetVariable(organization, set)} />
);

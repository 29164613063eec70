import { useChangeVariable, type ConsoleVariable } from '../../api/variables.js';
import type { Workspace } from '../../api/workspaces.js';
import { DeleteVariableDialog } from '../../components/delete-variable-dialog.js';
import { VariableDialog } from '../../components/variable-dialog.js';

type DialogProps<V> = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly variable: V;
  readonly onClose: () => void;
};

export const WorkspaceVariableDialog = ({ organization, workspace, ...props }: DialogProps<ConsoleVariable | null>) => (
  <VariableDialog {...props} change={useChangeVariable(organization, workspace.attributes.name, workspace.id)} />
);

export const DeleteWorkspaceVariableDialog = ({ organization, workspace, ...props }: DialogProps<ConsoleVariable>) => (
  <DeleteVariableDialog {...props} change={useChangeVariable(organization, workspace.attributes.name, workspace.id)} />
);

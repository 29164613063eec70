import { useDeleteSiteWorkspace, type SiteWorkspace } from '../../api/site-workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DeleteWorkspaceProps = { readonly workspace: SiteWorkspace; readonly onClose: () => void };

/** Deletes a workspace of any organization after its name was typed. */
export const DeleteSiteWorkspaceDialog = ({ workspace, onClose }: DeleteWorkspaceProps) => {
  const { id, organization, attributes } = workspace;
  const { name, locked } = attributes;
  const deletion = useDeleteSiteWorkspace();
  return (
    <ConfirmDialog
      title={`Delete ${name} of ${organization}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(id, reportAndClose(`The workspace ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      {locked && 'The workspace is locked. '}
      Terraform destroys nothing: the resources that its state describes stay. Until the end of the recovery period, the
      owners of {organization} can recover the workspace.
    </ConfirmDialog>
  );
};

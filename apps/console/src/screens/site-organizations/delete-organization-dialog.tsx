import { useDeleteSiteOrganization, type SiteOrganization } from '../../api/site-organizations.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DeleteDialogProps = { readonly organization: SiteOrganization; readonly onClose: () => void };

/** Deletes an organization after its name was typed. */
export const DeleteSiteOrganizationDialog = ({ organization: { id, owners }, onClose }: DeleteDialogProps) => {
  const deletion = useDeleteSiteOrganization();
  return (
    <ConfirmDialog
      title={`Delete ${id}`}
      action="Delete"
      typed={id}
      change={deletion}
      onConfirm={() => deletion.mutate(id, reportAndClose(`The organization ${id} is deleted.`, onClose))}
      onClose={onClose}
    >
      Nobody can restore the organization, its workspaces, states, teams and tokens.
      {owners.length > 0 && ` Its owners are ${owners.join(', ')}.`}
    </ConfirmDialog>
  );
};

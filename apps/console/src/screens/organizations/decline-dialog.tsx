import { ApiError } from '../../api/api-error.js';
import { useDeclineInvitation, type OwnInvitation } from '../../api/memberships.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { showToast } from '../../toasts.js';

type DeclineDialogProps = { readonly invitation: OwnInvitation; readonly onClose: () => void };

export const DeclineDialog = ({ invitation, onClose }: DeclineDialogProps) => {
  const { organization } = invitation;
  const refusal = useDeclineInvitation(invitation);
  const decline = () => {
    const onSuccess = (outcome: 'declined' | 'accepted before') => {
      showToast(
        outcome === 'declined'
          ? { kind: 'success', message: `The invitation to ${organization} is declined.` }
          : {
              kind: 'error',
              message: `You have accepted the invitation to ${organization} already. Nothing is declined.`,
            },
      );
      onClose();
    };
    // The dialog shows other refusals. If the invitation has ended, the dialog leaves the screen with its row.
    const onError = (error: Error) => {
      if (!(error instanceof ApiError && error.isNotFound)) return;
      showToast({ kind: 'error', message: `The invitation to ${organization} does not exist any more.` });
      onClose();
    };
    refusal.mutate(undefined, { onSuccess, onError });
  };
  return (
    <ConfirmDialog
      title={`Decline the invitation to ${organization}`}
      action="Decline"
      change={refusal}
      onConfirm={decline}
      onClose={onClose}
    >
      The invitation ends. To join {organization} later, you need another one.
    </ConfirmDialog>
  );
};

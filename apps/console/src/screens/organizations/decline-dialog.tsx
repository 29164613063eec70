import { Text } from '@mantine/core';
import { useDeclineInvitation, type OwnInvitation } from '../../api/memberships.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { showToast } from '../../components/toasts.js';

type DeclineDialogProps = { readonly invitation: OwnInvitation; readonly onClose: () => void };

export const DeclineDialog = ({ invitation, onClose }: DeclineDialogProps) => {
  const { organization } = invitation;
  const refusal = useDeclineInvitation(invitation);
  const decline = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The invitation to ${organization} is declined.` });
      onClose();
    };
    refusal.mutate(undefined, { onSuccess });
  };
  return (
    <ConfirmDialog
      title={`Decline the invitation to ${organization}`}
      action="Decline"
      error={refusal.error}
      isPending={refusal.isPending}
      onConfirm={decline}
      onClose={onClose}
    >
      <Text size="sm">The invitation ends. To join {organization} later, you need another one.</Text>
    </ConfirmDialog>
  );
};

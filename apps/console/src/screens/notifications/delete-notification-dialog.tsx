import { Text } from '@mantine/core';
import { useChangeNotification, type ListedNotification, type NotifyingOwner } from '../../api/notifications.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { showToast } from '../../components/toasts.js';

type DeleteProps = {
  readonly organization: string;
  readonly owner: NotifyingOwner;
  readonly notification: ListedNotification;
  readonly onClose: () => void;
};

export const DeleteNotificationDialog = ({ organization, owner, notification, onClose }: DeleteProps) => {
  const { name } = notification.attributes;
  const change = useChangeNotification(organization, owner);
  const destroy = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The notification ${name} is deleted.` });
      onClose();
    };
    change.mutate({ action: 'delete', id: notification.id }, { onSuccess });
  };
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      error={change.error}
      isPending={change.isPending}
      onConfirm={destroy}
      onClose={onClose}
    >
      <Text size="sm">
        The server sends nothing to this destination any more, and deletes the list of its deliveries. You cannot undo
        this, because nobody can read the key of the signature.
      </Text>
    </ConfirmDialog>
  );
};

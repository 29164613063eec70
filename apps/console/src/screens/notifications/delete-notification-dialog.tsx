import { useChangeNotification, type ListedNotification, type NotifyingOwner } from '../../api/notifications.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DeleteProps = {
  readonly organization: string;
  readonly owner: NotifyingOwner;
  readonly notification: ListedNotification;
  readonly onClose: () => void;
};

export const DeleteNotificationDialog = ({ organization, owner, notification, onClose }: DeleteProps) => {
  const { name } = notification.attributes;
  const change = useChangeNotification(organization, owner);
  const destroy = () =>
    change.mutate(
      { action: 'delete', id: notification.id },
      reportAndClose(`The notification ${name} is deleted.`, onClose),
    );
  return (
    <ConfirmDialog title={`Delete ${name}`} action="Delete" change={change} onConfirm={destroy} onClose={onClose}>
      The server sends nothing to this destination any more, and deletes the list of its deliveries. You cannot undo
      this, because nobody can read the key of the signature.
    </ConfirmDialog>
  );
};

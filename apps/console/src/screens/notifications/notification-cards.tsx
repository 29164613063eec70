import { useQuery } from '@tanstack/react-query';
import { notificationsQuery, type ListedNotification, type NotifyingOwner } from '../../api/notifications.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { NotificationCard, type NotificationDialogKind } from './notification-card.js';

const NotificationDialog = lazyComponent(() => import('./notification-dialog.js'), 'NotificationDialog');
const DeleteNotificationDialog = lazyComponent(
  () => import('./delete-notification-dialog.js'),
  'DeleteNotificationDialog',
);
const DeliveriesDialog = lazyComponent(() => import('./deliveries-dialog.js'), 'DeliveriesDialog');

type OwnerProps = { readonly organization: string; readonly owner: NotifyingOwner };

export type OpenNotification =
  | { readonly kind: 'create' }
  | { readonly kind: NotificationDialogKind; readonly notification: ListedNotification }
  | null;

const DIALOGS = { update: NotificationDialog, delete: DeleteNotificationDialog, deliveries: DeliveriesDialog };

type DialogsProps = OwnerProps & { readonly open: OpenNotification; readonly onClose: () => void };

export const NotificationDialogs = ({ open, ...common }: DialogsProps) => {
  const { data = [] } = useQuery(notificationsQuery(common.organization, common.owner));
  if (open === null) return null;
  if (open.kind === 'create') return <NotificationDialog {...common} notification={null} />;
  // The dialogs show what others change. If they delete the configuration, the server refuses what the dialog sends.
  const notification = data.find(({ id }) => id === open.notification.id) ?? open.notification;
  const ChosenDialog = DIALOGS[open.kind];
  return <ChosenDialog {...common} notification={notification} />;
};

type CardsProps = OwnerProps & {
  readonly notifications: readonly ListedNotification[];
  readonly onOpen: (open: OpenNotification) => void;
};

/** The notification configurations of an owner. */
export const NotificationCards = ({ notifications, onOpen, ...common }: CardsProps) =>
  notifications.map((notification) => (
    <NotificationCard
      key={notification.id}
      {...common}
      notification={notification}
      onOpen={(kind) => onOpen({ kind, notification })}
    />
  ));

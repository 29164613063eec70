import { Alert, Badge, Button, Group } from '@mantine/core';
import { useRef } from 'react';
import { describeChangeError } from '../../api/api-error.js';
import {
  useChangeNotification,
  useVerifyNotification,
  type ListedNotification,
  type NotifyingOwner,
} from '../../api/notifications.js';
import { Card, FactList } from '../../components/card.js';
import { PendingButton } from '../../components/pending-button.js';
import { removeToast, showToast } from '../../toasts.js';
import { LastAnswers } from './delivery-status.js';
import { describeDestination, formatTrigger } from './notification-words.js';

export type NotificationDialogKind = 'update' | 'delete' | 'deliveries';

type CardProps = {
  readonly organization: string;
  readonly owner: NotifyingOwner;
  readonly notification: ListedNotification;
  readonly onOpen: (kind: NotificationDialogKind) => void;
};

const describeTest = ({ attributes }: ListedNotification): string => {
  const [answer] = attributes['delivery-responses'];
  if (attributes['destination-type'] === 'email') return `The test of ${attributes.name} is sent.`;
  return answer?.successful === 'true'
    ? `The destination of ${attributes.name} has accepted the test.`
    : `The destination of ${attributes.name} has refused the test with status ${answer?.code ?? ''}.`;
};

const isAccepted = ({ attributes }: ListedNotification): boolean =>
  attributes['delivery-responses'][0]?.successful === 'true';

const StateBadge = ({ isEnabled }: { readonly isEnabled: boolean }) => (
  <Badge color={isEnabled ? 'green' : 'gray'} miw="max-content">
    {isEnabled ? 'Enabled' : 'Disabled'}
  </Badge>
);

/** Shows the result of a test until the next attempt begins. */
const useTestResult = () => {
  const toastId = useRef<number | null>(null);
  return {
    show: (tested: ListedNotification) => {
      const kind = isAccepted(tested) ? 'success' : 'error';
      toastId.current = showToast({ kind, message: describeTest(tested) });
    },
    hide: () => {
      if (toastId.current !== null) removeToast(toastId.current);
      toastId.current = null;
    },
  };
};

/** The buttons that change nothing else. The server tests a destination with a URL before it enables it. */
const useNotificationActions = ({ organization, owner, notification }: CardProps) => {
  const { name, enabled } = notification.attributes;
  const change = useChangeNotification(organization, owner);
  const test = useVerifyNotification(organization, notification.id);
  const result = useTestResult();
  const setEnabled = (next: boolean) => {
    test.reset();
    result.hide();
    const onSuccess = () =>
      showToast({
        kind: 'success',
        message: `${name} is ${next ? 'enabled' : 'disabled'}.`,
        undo: () => setEnabled(!next),
      });
    const toUpdate = () => ({ attributes: { enabled: next } });
    change.mutate({ action: 'update', id: notification.id, toUpdate }, { onSuccess });
  };
  return {
    error: change.error ?? test.error,
    isSwitching: change.isPending,
    isTesting: test.isPending,
    switchState: () => setEnabled(!enabled),
    sendTest: () => {
      change.reset();
      result.hide();
      test.mutate(undefined, { onSuccess: result.show });
    },
  };
};

type ActionsProps = CardProps & { readonly actions: ReturnType<typeof useNotificationActions> };

const NotificationActions = ({ notification, onOpen, actions }: ActionsProps) => {
  const { name, enabled } = notification.attributes;
  const switchLabel = enabled ? 'Disable' : 'Enable';
  const button = { size: 'compact-sm', variant: 'default' } as const;
  return (
    <Group gap={6}>
      <PendingButton
        {...button}
        aria-label={`${switchLabel} ${name}`}
        isPending={actions.isSwitching}
        onClick={actions.switchState}
      >
        {switchLabel}
      </PendingButton>
      <PendingButton {...button} aria-label={`Test ${name}`} isPending={actions.isTesting} onClick={actions.sendTest}>
        Test
      </PendingButton>
      <Button {...button} aria-label={`Deliveries of ${name}`} onClick={() => onOpen('deliveries')}>
        Deliveries
      </Button>
      <Button {...button} aria-label={`Change ${name}`} onClick={() => onOpen('update')}>
        Change
      </Button>
      <Button {...button} aria-label={`Delete ${name}`} onClick={() => onOpen('delete')}>
        Delete
      </Button>
    </Group>
  );
};

/** A notification configuration with its last deliveries. */
export const NotificationCard = (props: CardProps) => {
  const { attributes } = props.notification;
  const { triggers } = attributes;
  const actions = useNotificationActions(props);
  return (
    <Card title={attributes.name} actions={<NotificationActions {...props} actions={actions} />}>
      {actions.error && (
        <Alert color="red" role="alert">
          {describeChangeError(actions.error)}
        </Alert>
      )}
      <FactList
        facts={[
          { label: 'State', value: <StateBadge isEnabled={attributes.enabled} /> },
          { label: 'Destination', value: describeDestination(props.notification) },
          {
            label: 'Sent when',
            value:
              triggers.length === 0
                ? 'Never: no trigger is chosen'
                : triggers.map((trigger) => <div key={trigger}>{formatTrigger(trigger)}</div>),
          },
          { label: 'Last answers', value: <LastAnswers answers={attributes['delivery-responses']} /> },
        ]}
      />
    </Card>
  );
};

import { Badge, Group } from '@mantine/core';
import type { ListedDelivery, ListedNotification } from '../../api/notifications.js';
import { Time } from '../../components/times.js';

type StatusOfDelivery = ListedDelivery['attributes']['status'];

const STATUSES: Readonly<Record<StatusOfDelivery, { readonly label: string; readonly color: string }>> = {
  delivered: { label: 'Delivered', color: 'green' },
  failed: { label: 'Failed', color: 'red' },
  pending: { label: 'Waiting', color: 'yellow' },
};

type BadgeProps = {
  readonly status: StatusOfDelivery;
  /** The status of the answer; empty without one. */
  readonly code?: string;
};

export const DeliveryBadge = ({ status, code = '' }: BadgeProps) => {
  const { label, color } = STATUSES[status];
  return (
    <Badge color={color} miw="max-content">
      {code === '' ? label : `${label}: ${code}`}
    </Badge>
  );
};

type AnswersProps = { readonly answers: ListedNotification['attributes']['delivery-responses'] };

/** The last answers of a destination, the newest first. */
export const LastAnswers = ({ answers }: AnswersProps) => {
  if (answers.length === 0) return <>Nothing has been sent in the last 30 days</>;
  return (
    <>
      {answers.map(({ code, successful, 'sent-at': sentAt }) => (
        <Group key={sentAt} gap={6}>
          <DeliveryBadge status={successful === 'true' ? 'delivered' : 'failed'} code={code} />
          <Time value={sentAt} />
        </Group>
      ))}
    </>
  );
};

import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { notificationsQuery, type NotifyingOwner } from '../../api/notifications.js';
import { ErrorState } from '../../components/states.js';
import { NotificationCards, NotificationDialogs, type OpenNotification } from '../notifications/notification-cards.js';

type TeamNotificationsProps = { readonly organization: string; readonly team: string };

/**
 * The notification configurations of a team that clients have created. The console creates none, because the server sends
 * none of the triggers that teams can have.
 */
export const TeamNotifications = ({ organization, team }: TeamNotificationsProps) => {
  const owner: NotifyingOwner = { kind: 'team', id: team };
  const { data = [], error, refetch } = useQuery(notificationsQuery(organization, owner));
  const [open, setOpen] = useState<OpenNotification>(null);
  // An open dialog keeps what the person has entered, even if somebody deletes the last configuration.
  const isEmpty = data.length === 0 && open === null;
  if (error && isEmpty) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isEmpty) return null;
  return (
    <Stack component="section" aria-label="Notifications" mt="md">
      <Title order={2} size="h5">
        Notifications
      </Title>
      <NotificationCards organization={organization} owner={owner} notifications={data} onOpen={setOpen} />
      <NotificationDialogs organization={organization} owner={owner} open={open} onClose={() => setOpen(null)} />
    </Stack>
  );
};

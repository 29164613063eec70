import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { notificationsQuery, type NotifyingOwner } from '../../api/notifications.js';
import { CreateButton } from '../../components/create-button.js';
import { BellIcon } from '../../components/icons.js';
import { EmptyState, QueryState } from '../../components/states.js';
import { NotificationCards, NotificationDialogs, type OpenNotification } from './notification-cards.js';

type ListProps = {
  readonly organization: string;
  readonly owner: NotifyingOwner;
  /** What the notifications are about. */
  readonly subject: string;
};

/** The notification configurations of an owner, for people who may change its settings. */
export const NotificationList = ({ organization, owner, subject }: ListProps) => {
  const query = useQuery(notificationsQuery(organization, owner));
  const [open, setOpen] = useState<OpenNotification>(null);
  const create = (
    <div>
      <CreateButton label="New notification" isPermitted onClick={() => setOpen({ kind: 'create' })} />
    </div>
  );
  return (
    <>
      <QueryState query={query} what={owner.kind}>
        {(notifications) =>
          notifications.length === 0 ? (
            <EmptyState icon={BellIcon} title="There is no notification yet">
              <Text>
                The server can send a request to a URL, a message to Slack or Microsoft Teams, or e-mails to members,
                when {subject}.
              </Text>
              {create}
            </EmptyState>
          ) : (
            <Stack>
              {create}
              <NotificationCards
                organization={organization}
                owner={owner}
                notifications={notifications}
                onOpen={setOpen}
              />
            </Stack>
          )
        }
      </QueryState>
      <NotificationDialogs organization={organization} owner={owner} open={open} onClose={() => setOpen(null)} />
    </>
  );
};

/** Replaces the list for people who may not read it, because URLs of webhooks are secrets. */
export const DeniedNotifications = ({ reason }: { readonly reason: string }) => (
  <EmptyState icon={BellIcon} title="You may not read the notifications">
    <Text>Their addresses are secrets: everybody who has the URL of a webhook can post there.</Text>
    <div>
      <CreateButton label="New notification" isPermitted={false} reason={reason} onClick={() => undefined} />
    </div>
  </EmptyState>
);

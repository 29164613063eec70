import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { notificationsQuery, type NotifyingOwner } from '../../api/notifications.js';
import { BellIcon } from '../../components/icons.js';
import { EmptyState, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { NotificationCards, NotificationDialogs, type OpenNotification } from '../notifications/notification-cards.js';
import { useShownTeam, type TeamProps } from './shown-team.js';

const NoNotification = ({ organization }: { readonly organization: string }) => (
  <EmptyState icon={BellIcon} title="The team has no notifications">
    <Text>
      The only event of teams is a change request, which this server does not have. An organization and its workspaces
      can notify people about runs and locks.
    </Text>
    <div>
      <TextLink to="/$organization/notifications" params={{ organization }}>
        Notifications of the organization
      </TextLink>
    </div>
  </EmptyState>
);

const TeamNotifications = ({ organization, team }: TeamProps) => {
  const owner: NotifyingOwner = { kind: 'team', id: team.id };
  const query = useQuery(notificationsQuery(organization, owner));
  const [open, setOpen] = useState<OpenNotification>(null);
  return (
    <>
      <QueryState query={query} what="team">
        {(notifications) =>
          notifications.length === 0 ? (
            <NoNotification organization={organization} />
          ) : (
            <Stack>
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

/**
 * The notification configurations of a team that clients have created. The console creates none, because the server sends
 * none of the triggers that teams can have.
 */
export const TeamNotificationsScreen = () => {
  const team = useShownTeam();
  return team && <TeamNotifications {...team} />;
};

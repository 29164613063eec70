import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationQuery } from '../../api/organizations.js';
import { Page } from '../../components/page.js';
import { QueryState } from '../../components/states.js';
import { DeniedNotifications, NotificationList } from './notification-list.js';

const NO_ACCESS = 'You need to be an owner of the organization.';

/** What an organization sends about all its workspaces. */
export const NotificationsScreen = () => {
  const { organization } = useParams({ from: '/$organization/notifications' });
  const query = useQuery(organizationQuery(organization));
  return (
    <Page
      title="Notifications"
      description="About all workspaces of the organization. A workspace can have notifications of its own."
    >
      <QueryState query={query} what="organization">
        {({ attributes }) =>
          attributes.permissions['can-update'] ? (
            <NotificationList
              organization={organization}
              owner={{ kind: 'organization', id: organization }}
              subject="a run or a workspace of the organization changes"
            />
          ) : (
            <DeniedNotifications reason={NO_ACCESS} />
          )
        }
      </QueryState>
    </Page>
  );
};

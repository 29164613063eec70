import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { workspaceQuery } from '../../api/workspaces.js';
import { DeniedNotifications, NotificationList } from '../notifications/notification-list.js';

const NO_ACCESS = 'You need a team with admin access to this workspace.';

/** What a workspace sends about itself and its runs. */
export const WorkspaceNotificationsScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/notifications' });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  const { id, attributes } = data.data;
  if (!attributes.permissions['can-update']) return <DeniedNotifications reason={NO_ACCESS} />;
  return (
    <NotificationList
      organization={organization}
      owner={{ kind: 'workspace', id }}
      subject="a run changes, or the workspace is locked or unlocked"
    />
  );
};

import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { organizationQuery } from '../../api/organizations.js';
import type { Project } from '../../api/projects.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';

const DeleteProjectDialog = lazyComponent(() => import('./delete-project-dialog.js'), 'DeleteProjectDialog');

type DeletionCardProps = { readonly organization: string; readonly project: Project };

/** Returns why nobody, or not this person, can delete the project now. Null if it can be deleted. */
const useObstacle = ({ organization, project: { id, attributes } }: DeletionCardProps): string | null => {
  const { data } = useQuery(organizationQuery(organization));
  if (data?.relationships['default-project'].data?.id === id) {
    return 'It is the default project of the organization, which gets the workspaces of no other project.';
  }
  if (!attributes.permissions['can-destroy']) {
    return 'You need a team with admin access to this project, or that may manage projects.';
  }
  const count = attributes['workspace-count'];
  return count === 0 ? null : `It holds ${formatCount(count, 'workspace')}. Move or delete them first.`;
};

export const DeletionCard = (props: DeletionCardProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const obstacle = useObstacle(props);
  return (
    <Card title="Delete this project">
      <Text size="sm" c="dimmed">
        {obstacle ?? 'The access of teams and the tags of the project go with it.'}
      </Text>
      <div>
        <PermittedButton
          variant="light"
          color="red"
          isPermitted={obstacle === null}
          reason={obstacle ?? ''}
          onClick={dialog.open}
        >
          Delete the project
        </PermittedButton>
      </div>
      {isOpen && <DeleteProjectDialog {...props} onClose={dialog.close} />}
    </Card>
  );
};

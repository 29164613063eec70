import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { projectQuery } from '../../api/projects.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { NewWorkspaceButton } from '../../components/new-workspace-button.js';
import { EmptyState } from '../../components/states.js';

type EmptyProjectProps = { readonly organization: string; readonly project: string; readonly onClear: () => void };

/** The next step in a project without workspaces, such as a new one. */
export const EmptyProject = ({ organization, project, onClear }: EmptyProjectProps) => {
  const { data } = useQuery(projectQuery(organization, project));
  const canCreate = data?.attributes.permissions['can-create-workspace'] ?? false;
  return (
    <EmptyState icon={WorkspaceIcon} title={`No workspace in ${data?.attributes.name ?? 'this project'}`}>
      <Text>The project has no workspace that you may read.</Text>
      <Group justify="center">
        {canCreate && <NewWorkspaceButton organization={organization} project={project} label="Create a workspace" />}
        <Button variant="default" onClick={onClear}>
          Show all workspaces
        </Button>
      </Group>
    </EmptyState>
  );
};

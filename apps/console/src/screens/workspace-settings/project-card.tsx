import { Text } from '@mantine/core';
import { findIncluded } from '../../api/included.js';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { ProjectSelect } from '../../components/project-select.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import type { WorkspaceCardProps } from './setting-card.js';

const MovePreview = lazyComponent(() => import('./move-preview.js'), 'MovePreview', <LoadingLines count={2} />);

const MOVERS = 'Teams with admin or maintain access to the project move workspaces out of it.';

/** The project of the workspace. The preview of a move is on the screen before it is saved. */
export const ProjectCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const { mutate, ...state } = useUpdateWorkspace(organization, workspace.data);
  const { data: identifier } = workspace.data.relationships.project;
  const project = findIncluded(workspace, identifier);
  const form = useSettings<{ readonly project: string | null }>(
    { project: identifier.id },
    {
      ...state,
      mutate: ({ project: to }, callbacks) => mutate({ project: to ?? identifier.id }, callbacks),
    },
  );
  const { project: chosen } = form.values;
  return (
    <SettingsCard
      title="Project"
      form={{ ...form, isChanged: form.isChanged && chosen !== null }}
      canChange={project?.attributes.permissions['can-move-workspace'] ?? false}
      reason={MOVERS}
    >
      <ProjectSelect
        organization={organization}
        label="Project"
        placeholder="Choose a project"
        description="It gives access, tags, variable sets and defaults to its workspaces."
        {...form.choice('project')}
      />
      {chosen !== null && chosen !== identifier.id && (
        <MovePreview organization={organization} workspace={workspace.data} to={chosen} />
      )}
      <Text size="sm">
        <TextLink to="/$organization/projects/$project" params={{ organization, project: identifier.id }}>
          Open the project
        </TextLink>
      </Text>
    </SettingsCard>
  );
};

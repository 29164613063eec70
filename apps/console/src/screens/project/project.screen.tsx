import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { projectQuery, type Project } from '../../api/projects.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { NewWorkspaceButton } from '../../components/new-workspace-button.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { AccessCard } from './access-card.js';
import { TagsCard } from './tags-card.js';
import { VariableSetsCard } from './variable-sets-card.js';
import { WorkspacesCard } from './workspaces-card.js';

// Selects, tooltips and texts of several lines are 60 kB.
const ProjectSettings = lazyComponent(
  () => import('./project-settings.js'),
  'ProjectSettings',
  <LoadingLines count={8} height={36} />,
);

type ProjectProps = { readonly organization: string; readonly project: Project };

const Cards = ({ organization, project }: ProjectProps) => {
  const card = { organization, project };
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack>
        <WorkspacesCard {...card} />
        <AccessCard {...card} />
        <VariableSetsCard {...card} />
        <TagsCard {...card} />
      </Stack>
      <ProjectSettings {...card} />
    </SimpleGrid>
  );
};

/** A project: its workspaces, who has access to them, and what applies to all of them. */
export const ProjectScreen = () => {
  const { organization, project: id } = useParams({ from: '/$organization/projects/$project' });
  const query = useQuery(projectQuery(organization, id));
  const { data } = query;
  return (
    <Page
      title={data?.attributes.name ?? 'Project'}
      description={data?.attributes.description}
      actions={
        data?.attributes.permissions['can-create-workspace'] && (
          <NewWorkspaceButton organization={organization} project={id} command="New workspace in this project" />
        )
      }
    >
      <QueryState query={query} what="project" loading={<LoadingLines count={8} height={36} />}>
        {(project) => <Cards organization={organization} project={project} />}
      </QueryState>
    </Page>
  );
};

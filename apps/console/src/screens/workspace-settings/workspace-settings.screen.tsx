import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { workspaceQuery } from '../../api/workspaces.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LoadingLines } from '../../components/states.js';
import { GeneralCard } from './general-card.js';

/* Fields that choose from a list are 30 kB. The first card needs none of them. */

const ProjectCard = lazyComponent(() => import('./project-card.js'), 'ProjectCard', <LoadingLines count={3} />);
const ExecutionCard = lazyComponent(() => import('./execution-card.js'), 'ExecutionCard', <LoadingLines count={6} />);
const SharingCard = lazyComponent(() => import('./sharing-card.js'), 'SharingCard', <LoadingLines count={4} />);
const RetentionCard = lazyComponent(() => import('./retention-card.js'), 'RetentionCard', <LoadingLines count={3} />);
const SshKeyCard = lazyComponent(() => import('./ssh-key-card.js'), 'SshKeyCard', <LoadingLines count={3} />);
const RepositoryCard = lazyComponent(
  () => import('./repository-card.js'),
  'RepositoryCard',
  <LoadingLines count={6} />,
);
const DestructionCard = lazyComponent(
  () => import('./destruction-card.js'),
  'DestructionCard',
  <LoadingLines count={4} />,
);
const OutputCard = lazyComponent(() => import('./output-card.js'), 'OutputCard', <LoadingLines count={3} />);
const DangerCard = lazyComponent(() => import('./danger-card.js'), 'DangerCard', <LoadingLines count={3} />);

/** The settings of a workspace. A card has those that are saved together. */
export const WorkspaceSettingsScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/settings' });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  const props = { organization, workspace: data };
  return (
    <Stack maw={760}>
      <GeneralCard {...props} />
      <ProjectCard {...props} />
      <ExecutionCard {...props} />
      <SharingCard {...props} />
      <RetentionCard {...props} />
      <SshKeyCard {...props} />
      <RepositoryCard {...props} />
      <DestructionCard {...props} />
      <OutputCard {...props} />
      <DangerCard {...props} />
    </Stack>
  );
};

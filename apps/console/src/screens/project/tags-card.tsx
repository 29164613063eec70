import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { projectTagsQuery, type Project } from '../../api/projects.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TagList } from '../../components/tag-list.js';

const ProjectTagDialog = lazyComponent(() => import('./project-tag-dialog.js'), 'ProjectTagDialog');

const NO_CHANGE = 'You need a team with admin access to this project, or that may manage projects.';

type TagsCardProps = { readonly organization: string; readonly project: Project };

/** The tags of the project, which its workspaces inherit. */
export const TagsCard = ({ organization, project }: TagsCardProps) => {
  const query = useQuery(projectTagsQuery(organization, project.id));
  const [opened, setOpened] = useState<{ readonly key: string | null } | null>(null);
  const canChange = project.attributes.permissions['can-manage-tags'];
  const create = (
    <CreateButton
      label="Add a tag"
      size="compact-sm"
      variant="default"
      isPermitted={canChange}
      reason={NO_CHANGE}
      onClick={() => setOpened({ key: null })}
    />
  );
  return (
    <Card title="Tags" actions={create}>
      <Text size="sm" c="dimmed">
        Every workspace of the project inherits them.
      </Text>
      <QueryState query={query} what="project" loading={<LoadingLines count={1} />}>
        {(tags) =>
          tags.length === 0 ? (
            <Text size="sm">The project has no tag.</Text>
          ) : (
            <TagList
              tags={tags.map(({ key, value }) => ({ key, value, isInherited: false }))}
              canChange={canChange}
              onOpen={(key) => setOpened({ key })}
            />
          )
        }
      </QueryState>
      {opened && query.data && (
        <ProjectTagDialog
          organization={organization}
          project={project}
          tag={query.data.find(({ key }) => key === opened.key) ?? null}
          onClose={() => setOpened(null)}
        />
      )}
    </Card>
  );
};

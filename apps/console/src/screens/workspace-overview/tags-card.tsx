import { Text } from '@mantine/core';
import { useState } from 'react';
import { createTagReader } from '../../api/tag-facts.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { TagList } from '../../components/tag-list.js';

const WorkspaceTagDialog = lazyComponent(() => import('../../components/tag-dialog.js'), 'WorkspaceTagDialog');

const NO_CHANGE = 'You need a team with write or admin access to this workspace or its project.';

type TagsCardProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** The tags that apply to the workspace. People with the permission add, change and remove its own. */
export const TagsCard = ({ organization, workspace }: TagsCardProps) => {
  const [opened, setOpened] = useState<{ readonly key: string | null } | null>(null);
  const canChange = workspace.data.attributes.permissions['can-manage-tags'];
  const tags = createTagReader(workspace)(workspace.data);
  const common = { organization, workspace, onClose: () => setOpened(null) };
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
      {tags.length === 0 && (
        <Text size="sm" c="dimmed">
          No tag applies to this workspace.
        </Text>
      )}
      <TagList tags={tags} canChange={canChange} onOpen={(key) => setOpened({ key })} />
      {opened && <WorkspaceTagDialog {...common} tagKey={opened.key} />}
    </Card>
  );
};

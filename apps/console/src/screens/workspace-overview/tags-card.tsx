import { Group, Text, UnstyledButton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { createTagReader } from '../../api/tag-facts.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { PlusIcon } from '../../components/icons.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { formatTag } from '../../components/tag-text.js';
import classes from './tags-card.module.css';

const TagDialog = lazy(async () => ({ default: (await import('../../components/tag-dialog.js')).TagDialog }));

const NO_CHANGE = 'You need a team with write or admin access to this workspace or its project.';

type TagsCardProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** The tags that apply to the workspace. People with the permission add, change and remove its own. */
export const TagsCard = ({ organization, workspace }: TagsCardProps) => {
  const [opened, setOpened] = useState<{ readonly key: string | null } | null>(null);
  const { name, permissions } = workspace.data.attributes;
  const tags = createTagReader(workspace)(workspace.data).map((tag) => ({
    ...tag,
    text: tag.isInherited ? `${formatTag(tag)} (of the project)` : formatTag(tag),
  }));
  return (
    <Card
      title="Tags"
      actions={
        <PermittedButton
          command="Add a tag"
          size="compact-sm"
          variant="default"
          isPermitted={permissions['can-manage-tags']}
          reason={NO_CHANGE}
          leftSection={<PlusIcon size={14} />}
          onClick={() => setOpened({ key: null })}
        >
          Add a tag
        </PermittedButton>
      }
    >
      {tags.length === 0 && (
        <Text size="sm" c="dimmed">
          No tag applies to this workspace.
        </Text>
      )}
      <Group gap={6}>
        {tags.map(({ key, text, isInherited }) =>
          permissions['can-manage-tags'] ? (
            <UnstyledButton
              key={key}
              className={classes['tag']}
              data-inherited={isInherited || undefined}
              aria-label={`${text}. Change`}
              aria-haspopup="dialog"
              onClick={() => setOpened({ key })}
            >
              {text}
            </UnstyledButton>
          ) : (
            <span key={key} className={classes['tag']} data-inherited={isInherited || undefined}>
              {text}
            </span>
          ),
        )}
      </Group>
      <Suspense>
        {opened && (
          <TagDialog organization={organization} workspace={name} tagKey={opened.key} onClose={() => setOpened(null)} />
        )}
      </Suspense>
    </Card>
  );
};

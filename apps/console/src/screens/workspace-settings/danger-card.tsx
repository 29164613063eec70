import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { describeHolder } from '../../api/included.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { TextLink } from '../../components/text-link.js';
import type { WorkspaceCardProps } from './setting-card.js';

const DeleteDialog = lazyComponent(() => import('./delete-dialog.js'), 'DeleteDialog');

const NO_DELETION =
  'You need a team with admin access to this workspace or its project, or that manages all workspaces.';
const NO_FORCE =
  'Only owners force a deletion, unless the organization lets admins of a workspace do it. See the settings of the organization.';

/** The reasons for which the server refuses a deletion that is not forced. */
const Obstacles = ({ organization, workspace }: WorkspaceCardProps) => {
  const { attributes, relationships } = workspace.data;
  const { locked, name, 'resource-count': resources } = attributes;
  const params = { organization, workspace: name };
  return (
    <>
      {locked && (
        <Text size="sm">
          It is locked by {describeHolder(workspace, relationships['locked-by'].data)}. Unlock it at the top of this
          page.
        </Text>
      )}
      {resources > 0 && (
        <Text size="sm">
          Its state manages {formatCount(resources, 'resource')} (
          <TextLink underline="always" to="/$organization/workspaces/$workspace/state" params={params}>
            see them
          </TextLink>
          ). Destroy them with terraform, or force the deletion: the resources then stay, and nothing manages them.
        </Text>
      )}
    </>
  );
};

/** Deletes the workspace. */
export const DangerCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const [opened, setOpened] = useState<'safe' | 'forced' | null>(null);
  const { locked, permissions, 'resource-count': resources } = workspace.data.attributes;
  const isStopped = locked || resources > 0;
  return (
    <Card title="Delete the workspace">
      <Stack gap="sm">
        <Text size="sm">A deleted workspace cannot be restored. Its entries in the audit trail stay.</Text>
        {isStopped && <Obstacles organization={organization} workspace={workspace} />}
        <Group gap="sm">
          <PermittedButton
            variant="light"
            color="red"
            isPermitted={permissions['can-destroy'] && !isStopped}
            reason={permissions['can-destroy'] ? 'The text above says what stops it.' : NO_DELETION}
            onClick={() => setOpened('safe')}
          >
            Delete
          </PermittedButton>
          {isStopped && (
            <PermittedButton
              color="red"
              isPermitted={permissions['can-force-delete']}
              reason={NO_FORCE}
              onClick={() => setOpened('forced')}
            >
              Force the deletion
            </PermittedButton>
          )}
        </Group>
      </Stack>
      {opened && (
        <DeleteDialog
          organization={organization}
          workspace={workspace.data}
          isForced={opened === 'forced'}
          onClose={() => setOpened(null)}
        />
      )}
    </Card>
  );
};

import { Group } from '@mantine/core';
import { useState } from 'react';
import type { ConsoleRunAction, RunDocument } from '../../api/runs.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { hasEnded } from '../../components/run-status.js';

const RunActionDialog = lazyComponent(() => import('./run-action-dialog.js'), 'RunActionDialog');

type ActionButton = {
  readonly action: ConsoleRunAction;
  readonly label: string;
  readonly isPermitted: boolean;
  /** Whether the status of the run allows the action. */
  readonly isPossible: boolean;
  readonly reason: string;
};

const NO_APPLY = 'You need a team that may apply runs of this workspace.';

const listActions = ({ data: { attributes } }: RunDocument): readonly ActionButton[] => {
  const { actions, permissions } = attributes;
  return [
    {
      action: 'apply',
      label: 'Confirm and apply',
      isPermitted: permissions['can-apply'],
      isPossible: actions['is-confirmable'],
      reason: NO_APPLY,
    },
    {
      action: 'discard',
      label: 'Discard',
      isPermitted: permissions['can-discard'],
      isPossible: actions['is-discardable'],
      reason: NO_APPLY,
    },
    {
      action: 'cancel',
      label: 'Cancel the run',
      isPermitted: permissions['can-cancel'],
      isPossible: actions['is-cancelable'],
      reason: NO_APPLY,
    },
    {
      action: 'force-cancel',
      label: 'Force cancel',
      isPermitted: permissions['can-force-cancel'],
      isPossible: actions['is-force-cancelable'],
      reason: 'You need a team with admin access to this workspace.',
    },
    {
      action: 'force-execute',
      label: 'Start before others',
      isPermitted: permissions['can-force-execute'],
      isPossible: attributes.status === 'pending' && attributes['position-in-queue'] > 0,
      reason: NO_APPLY,
    },
  ];
};

type ActionsProps = { readonly organization: string; readonly workspace: string; readonly document: RunDocument };

/** Buttons for the actions that the status of the run allows. */
export const RunActions = ({ organization, workspace, document }: ActionsProps) => {
  const [open, setOpen] = useState<ActionButton | null>(null);
  if (hasEnded(document.data.attributes.status)) return null;
  const buttons = listActions(document).filter(({ isPossible }) => isPossible);
  return (
    <Group gap="sm">
      {buttons.map((button) => (
        <PermittedButton
          key={button.action}
          command={button.label}
          variant={button.action === 'apply' ? 'filled' : 'default'}
          isPermitted={button.isPermitted}
          reason={button.reason}
          onClick={() => setOpen(button)}
        >
          {button.label}
        </PermittedButton>
      ))}
      {open && (
        <RunActionDialog
          organization={organization}
          workspace={workspace}
          document={document}
          action={open.action}
          label={open.label}
          onClose={() => setOpen(null)}
        />
      )}
    </Group>
  );
};

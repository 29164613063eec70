import type { ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Workspace } from '../../api/workspaces.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';

const NewRunDialog = lazyComponent(() => import('./new-run-dialog.js'), 'NewRunDialog');

const NO_PERMISSION = 'You need a team that may plan or apply runs of this workspace.';

/** Why nobody can queue a run in the workspace now, or null. */
export const explainLocalExecution = ({ attributes }: Workspace): string | null =>
  attributes['execution-mode'] === 'local'
    ? 'Terraform plans and applies on your machine, because the execution mode of this workspace is local.'
    : null;

type NewRunButtonProps = Pick<ButtonProps, 'variant'> & {
  readonly organization: string;
  readonly workspace: Workspace;
};

/** Opens the dialog that queues a run. */
export const NewRunButton = ({ organization, workspace, ...button }: NewRunButtonProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const obstacle = explainLocalExecution(workspace);
  const canQueue = workspace.attributes.permissions['can-queue-run'];
  return (
    <>
      <CreateButton
        {...button}
        label="New run"
        isPermitted={canQueue && obstacle === null}
        reason={canQueue ? (obstacle ?? '') : NO_PERMISSION}
        onClick={dialog.open}
      />
      {isOpen && <NewRunDialog organization={organization} workspace={workspace} onClose={dialog.close} />}
    </>
  );
};

import { useDisclosure } from '@mantine/hooks';
import {} from 'react';
import { lazyComponent } from './lazy-component.js';
import { useWorkspaceCreation } from '../api/workspace-creation.js';
import { PlusIcon } from './icons.js';
import { PermittedButton } from './permitted-button.js';

const CreateWorkspaceDialog = lazyComponent(() => import('./create-workspace-dialog.js'), 'CreateWorkspaceDialog');

const NO_CREATION =
  'You need a team that may manage workspaces, or that has maintain or admin access to a project, or to be an owner.';

type NewWorkspaceButtonProps = {
  readonly organization: string;
  readonly label?: string;
  /** The name of the button in the palette. */
  readonly command?: string;
  /** The id of the project that the dialog suggests. */
  readonly project?: string | undefined;
};

/** Opens the dialog that creates a workspace. */
export const NewWorkspaceButton = (props: NewWorkspaceButtonProps) => {
  const { organization, label = 'New workspace', project, command } = props;
  const [isOpen, dialog] = useDisclosure(false);
  const isPermitted = useWorkspaceCreation(organization);
  if (isPermitted === undefined) return null;
  return (
    <>
      <PermittedButton
        isPermitted={isPermitted}
        reason={NO_CREATION}
        {...(command === undefined ? {} : { command })}
        leftSection={<PlusIcon size={16} />}
        onClick={dialog.open}
      >
        {label}
      </PermittedButton>
      {isOpen && <CreateWorkspaceDialog organization={organization} project={project} onClose={dialog.close} />}
    </>
  );
};

import { useDisclosure } from '@mantine/hooks';
import { useWorkspaceCreation } from '../api/workspace-creation.js';
import { CreateButton } from './create-button.js';
import { lazyComponent } from './lazy-component.js';

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
  return (
    <>
      <CreateButton
        label={label}
        command={command ?? null}
        isPermitted={isPermitted}
        reason={NO_CREATION}
        onClick={dialog.open}
      />
      {isOpen && <CreateWorkspaceDialog organization={organization} project={project} onClose={dialog.close} />}
    </>
  );
};

import { useDisclosure } from '@mantine/hooks';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { useStateAccess } from './state-changes.js';

const UploadDialog = lazyComponent(() => import('./upload-dialog.js'), 'UploadDialog');

type UploadButtonProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** Opens the dialog that uploads a state. */
export const UploadButton = ({ organization, workspace }: UploadButtonProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const { isPermitted, reason, holdsLock } = useStateAccess(workspace);
  return (
    <>
      <PermittedButton
        command="Upload a state"
        size="compact-sm"
        variant="default"
        isPermitted={isPermitted}
        reason={reason}
        onClick={dialog.open}
      >
        Upload a state
      </PermittedButton>
      {isOpen && (
        <UploadDialog
          organization={organization}
          workspace={workspace.data}
          holdsLock={holdsLock}
          onClose={dialog.close}
        />
      )}
    </>
  );
};

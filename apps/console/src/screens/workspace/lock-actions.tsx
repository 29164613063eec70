import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../../api/account.js';
import { describeChangeError } from '../../api/api-error.js';
import { describeHolder } from '../../api/included.js';
import { useChangeLock, type WorkspaceDocument } from '../../api/workspaces.js';
import { LockIcon, UnlockIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { showToast } from '../../toasts.js';

const LockDialog = lazyComponent(() => import('./lock-dialog.js'), 'LockDialog');
const ForceUnlockDialog = lazyComponent(() => import('./lock-dialog.js'), 'ForceUnlockDialog');

const NO_LOCK = 'You need a team with write or admin access to this workspace, or with the permission to lock it.';
const NO_FORCE = 'You need a team with admin access to this workspace to unlock it for another holder.';

type LockActionsProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

const LockButton = ({ organization, workspace }: LockActionsProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const { permissions } = workspace.data.attributes;
  return (
    <>
      <PermittedButton
        command="Lock the workspace"
        variant="default"
        isPermitted={permissions['can-lock']}
        reason={NO_LOCK}
        leftSection={<LockIcon size={16} />}
        onClick={dialog.open}
      >
        Lock
      </PermittedButton>
      {isOpen && <LockDialog organization={organization} workspace={workspace.data} onClose={dialog.close} />}
    </>
  );
};

const UnlockButton = ({ organization, workspace }: LockActionsProps) => {
  const change = useChangeLock(organization, workspace.data);
  const reason = workspace.data.attributes['locked-reason'] ?? '';
  const unlock = () =>
    change.mutate(
      { action: 'unlock' },
      {
        onSuccess: () =>
          showToast({
            kind: 'success',
            message: `${workspace.data.attributes.name} is unlocked.`,
            undo: () => change.mutate({ action: 'lock', reason }),
          }),
        onError: (error) => showToast({ kind: 'error', message: describeChangeError(error) }),
      },
    );
  return (
    <PermittedButton
      command="Unlock the workspace"
      variant="default"
      isPermitted={workspace.data.attributes.permissions['can-unlock']}
      reason={NO_LOCK}
      leftSection={<UnlockIcon size={16} />}
      loading={change.isPending}
      onClick={unlock}
    >
      Unlock
    </PermittedButton>
  );
};

const ForceUnlockButton = ({ organization, workspace }: LockActionsProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const { attributes, relationships } = workspace.data;
  const holder = describeHolder(workspace, relationships['locked-by'].data);
  return (
    <>
      <PermittedButton
        command="Force unlock the workspace"
        variant="default"
        isPermitted={attributes.permissions['can-force-unlock']}
        reason={NO_FORCE}
        leftSection={<UnlockIcon size={16} />}
        onClick={dialog.open}
      >
        Force unlock
      </PermittedButton>
      {isOpen && (
        <ForceUnlockDialog
          organization={organization}
          workspace={workspace.data}
          holder={holder}
          onClose={dialog.close}
        />
      )}
    </>
  );
};

/** Locks and unlocks. Only the holder of a lock can unlock without force. */
export const LockActions = (props: LockActionsProps) => {
  const { data: account } = useQuery(accountQuery);
  const { attributes, relationships } = props.workspace.data;
  if (!attributes.locked) return <LockButton {...props} />;
  if (!account) return null;
  return relationships['locked-by'].data?.id === account.id ? (
    <UnlockButton {...props} />
  ) : (
    <ForceUnlockButton {...props} />
  );
};

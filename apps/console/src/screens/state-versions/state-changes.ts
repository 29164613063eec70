import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../../api/account.js';
import { describeHolder } from '../../api/included.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';

/** Whether the person may change the state now, or why not. */
type StateAccess = { readonly isPermitted: boolean; readonly reason: string; readonly holdsLock: boolean };

const NO_UPLOAD =
  'You need a team with write or admin access to this workspace, or with the permission to write states.';

/** Returns whether the person may change the state of the workspace. A change needs the lock. */
export const useStateAccess = (workspace: WorkspaceDocument): StateAccess => {
  const { data: account } = useQuery(accountQuery);
  const { attributes, relationships } = workspace.data;
  const { locked, permissions } = attributes;
  const holder = relationships['locked-by'].data;
  const holdsLock = locked && account !== undefined && holder?.id === account.id;
  if (!permissions['can-create-state-versions'] || !(permissions['can-lock'] || holdsLock)) {
    return { isPermitted: false, reason: NO_UPLOAD, holdsLock };
  }
  const reason = `The workspace is locked by ${describeHolder(workspace, holder)}. Only the holder of the lock changes its state.`;
  return { isPermitted: !locked || holdsLock, reason, holdsLock };
};

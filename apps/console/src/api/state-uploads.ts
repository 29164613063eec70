import { useQueryClient } from '@tanstack/react-query';
import { describeChangeError, readData, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { sendFile } from './send-file.js';
import { currentStateKey } from './states.js';
import { useChange } from './use-change.js';
import { workspacesKey, type Workspace } from './workspaces.js';

/** Whether the person holds the lock already. It then stays. */
type LockUse = { readonly holdsLock: boolean };

const unlock = (id: string): Promise<void> =>
  requireSuccess(api.POST('/api/v2/workspaces/{id}/actions/unlock', { params: { path: { id } } }));

const LOCKED = 'The workspace is still locked by you. Unlock it at the top of the page';

/**
 * Runs a change of the state under a lock of the person, because the server accepts no other. The new state becomes current when
 * the workspace is unlocked.
 */
const changeUnderLock = async (
  { id }: Workspace,
  { holdsLock }: LockUse,
  reason: string,
  change: () => Promise<void>,
): Promise<void> => {
  if (holdsLock) return change();
  const params = { path: { id } };
  await requireSuccess(api.POST('/api/v2/workspaces/{id}/actions/lock', { params, body: { reason } }));
  try {
    await change();
  } catch (error) {
    // The person needs the reason of this error more than that of a failed unlock, which the lock on the screen shows.
    await unlock(id).catch(() => undefined);
    throw error;
  }
  try {
    await unlock(id);
  } catch (error) {
    throw new Error(`The state is stored. ${LOCKED}, and it becomes current. ${describeChangeError(error)}`, {
      cause: error,
    });
  }
};

/** A state file with what the server compares with its content. */
type StateUpload = {
  readonly file: File;
  readonly serial: number;
  readonly lineage: string | null;
  readonly md5: string;
  /** Whether the server accepts another lineage and a lower serial. */
  readonly force: boolean;
};

const uploadState = async ({ id }: Workspace, { file, ...attributes }: StateUpload): Promise<void> => {
  const body = { data: { type: 'state-versions' as const, attributes } };
  const version = await readData(
    api.POST('/api/v2/workspaces/{id}/state-versions', { params: { path: { id } }, body }),
  );
  const link = version.attributes['hosted-state-upload-url'];
  // A repetition of an upload that is complete has no link.
  if (link) await sendFile(link, file);
};

const useReadStatesAgain = (organization: string, { id }: Workspace) => {
  const queries = useQueryClient();
  return async (): Promise<void> => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: currentStateKey(id) }),
      queries.invalidateQueries({ queryKey: workspacesKey(organization) }),
    ]);
  };
};

/** Uploads a state. The workspace is locked meanwhile. */
export const useUploadState = (organization: string, workspace: Workspace) =>
  useChange({
    mutationFn: ({ holdsLock, ...upload }: StateUpload & LockUse) =>
      changeUnderLock(workspace, { holdsLock }, 'Uploads a state in the console', () => uploadState(workspace, upload)),
    onSettled: useReadStatesAgain(organization, workspace),
  });

/** Makes an earlier state current again, as a new version. The workspace is locked meanwhile. */
export const useRollBack = (organization: string, workspace: Workspace) =>
  useChange({
    mutationFn: ({ version, holdsLock }: LockUse & { readonly version: string }) => {
      const params = { path: { id: workspace.id } };
      const target = { data: { type: 'state-versions' as const, id: version } };
      const body = {
        data: { type: 'state-versions' as const, relationships: { 'rollback-state-version': target } },
      };
      return changeUnderLock(workspace, { holdsLock }, 'Rolls back the state in the console', () =>
        requireSuccess(api.PATCH('/api/v2/workspaces/{id}/state-versions', { params, body })),
      );
    },
    onSettled: useReadStatesAgain(organization, workspace),
  });

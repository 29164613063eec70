import { useQueryClient } from '@tanstack/react-query';
import { requireSuccess } from './api-error.js';
import { api } from './client.js';
import { currentStateKey } from './states.js';
import { useChange } from './use-change.js';

/** The changes of the file of a version. A deleted file can be restored until it is destroyed. */
export type StateDataChange = 'delete' | 'restore' | 'destroy';

const PATHS = {
  delete: '/api/v2/state-versions/{id}/actions/soft_delete_backing_data',
  restore: '/api/v2/state-versions/{id}/actions/restore_backing_data',
  destroy: '/api/v2/state-versions/{id}/actions/permanently_delete_backing_data',
} as const;

export const useChangeStateData = (workspace: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: ({ id, change }: { readonly id: string; readonly change: StateDataChange }) =>
      requireSuccess(api.POST(PATHS[change], { params: { path: { id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: currentStateKey(workspace) }),
  });
};

/** Saves the file of a version as it was uploaded. The server records it in the audit trail. */
export const saveStateFile = (id: string, name: string): void => {
  const link = document.createElement('a');
  link.href = `/api/v2/state-versions/${id}/download`;
  link.download = name;
  link.click();
};

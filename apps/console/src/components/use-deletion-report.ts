import { isRecoverable, useRecoverItem } from '../api/recoverable-items.js';
import { showToast } from '../toasts.js';

type DeletionMessages = { readonly deleted: string; readonly recovered: string };

/** Returns a function that reports a deletion, with an undo if the resource can come back. */
export const useDeletionReport = (organization: string) => {
  const recovery = useRecoverItem(organization);
  return async (id: string, { deleted, recovered }: DeletionMessages): Promise<void> => {
    const undo = () => recovery.mutate({ id }, { onSuccess: () => showToast({ kind: 'success', message: recovered }) });
    const canUndo = await isRecoverable(organization, id);
    showToast({ kind: 'success', message: deleted, undo: canUndo ? undo : undefined });
  };
};

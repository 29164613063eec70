import { useChangeStateData } from '../../api/state-data.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DestroyDialogProps = {
  /** The id of the workspace. */
  readonly workspace: string;
  readonly version: { readonly id: string; readonly serial: number };
  readonly onClose: () => void;
};

/** Confirms that the file of a version is deleted for good. */
export const DestroyDialog = ({ workspace, version: { id, serial }, onClose }: DestroyDialogProps) => {
  const change = useChangeStateData(workspace);
  const done = `The file of serial ${serial} is deleted for good.`;
  return (
    <ConfirmDialog
      title={`Delete the file of serial ${serial} for good`}
      action="Delete for good"
      change={change}
      onConfirm={() => change.mutate({ id, change: 'destroy' }, reportAndClose(done, onClose))}
      onClose={onClose}
    >
      Nobody can read or restore this state any more. The version stays in the list.
    </ConfirmDialog>
  );
};

import { useRollBack } from '../../api/state-uploads.js';
import type { Workspace } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

type RollBackDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly holdsLock: boolean;
  /** The version whose state returns. */
  readonly version: { readonly id: string; readonly serial: number };
  /** The serial of the newest complete version. */
  readonly newest: number;
  readonly onClose: () => void;
};

/** Confirms that the state of an earlier version becomes current again. */
export const RollBackDialog = ({
  organization,
  workspace,
  holdsLock,
  version,
  newest,
  onClose,
}: RollBackDialogProps) => {
  const { name } = workspace.attributes;
  const change = useRollBack(organization, workspace);
  const next = (newest + 1).toLocaleString();
  const done = holdsLock
    ? `The state of serial ${version.serial} is stored. It becomes current when you unlock ${name}.`
    : `The state of serial ${version.serial} is current again.`;
  return (
    <ConfirmDialog
      title={`Roll back to serial ${version.serial.toLocaleString()}`}
      action="Roll back"
      change={change}
      onConfirm={() => change.mutate({ version: version.id, holdsLock }, reportAndClose(done, onClose))}
      onClose={onClose}
    >
      The state of serial {version.serial.toLocaleString()} becomes the current state of {name}, as serial {next}.
      Serial {newest.toLocaleString()} stays in the list. The infrastructure does not change: the next plan shows how it
      differs from the state.{' '}
      {holdsLock
        ? 'You hold the lock, so it becomes current when you unlock the workspace.'
        : 'The workspace is locked meanwhile.'}
    </ConfirmDialog>
  );
};

import { useSwitchRecording } from '../../api/organization-policies.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { reportAndClose } from '../../toasts.js';

type ShortenProps = { readonly days: number; readonly onConfirm: () => void; readonly onClose: () => void };

/** Confirms that the server deletes older entries. The form then sends the change, and shows a refusal at its field. */
export const ShortenDialog = ({ days, onConfirm, onClose }: ShortenProps) => (
  <ConfirmDialog
    title="Delete older entries"
    action="Delete older entries"
    change={{ error: null, isPending: false }}
    onConfirm={onConfirm}
    onClose={onClose}
  >
    Entries of the audit trail that are older than {formatCount(days, 'day')} are deleted. They do not come back if you
    choose a longer time later.
  </ConfirmDialog>
);

type StopProps = { readonly organization: string; readonly onClose: () => void };

export const StopDialog = ({ organization, onClose }: StopProps) => {
  const change = useSwitchRecording(organization);
  const undo = () => change.mutate(true);
  return (
    <ConfirmDialog
      title="Stop the recording"
      action="Stop"
      change={change}
      onConfirm={() => change.mutate(false, reportAndClose('The audit trail records nothing now.', onClose, undo))}
      onClose={onClose}
    >
      What people do from now on has no entry, also if you start the recording again later. The trail shows who stopped
      it, and when. Entries so far stay readable.
    </ConfirmDialog>
  );
};

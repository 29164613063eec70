import { useEndOtherSessions } from '../../api/own-sessions.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';

export const EndOthersDialog = ({ user, onClose }: { readonly user: string; readonly onClose: () => void }) => {
  const change = useEndOtherSessions(user);
  return (
    <ConfirmDialog
      title="End all other sessions"
      action="End"
      change={change}
      onConfirm={() => change.mutate(undefined, reportAndClose('Your other sessions have ended.', onClose))}
      onClose={onClose}
    >
      You are signed out of every other browser. This browser stays signed in. Tokens stay.
    </ConfirmDialog>
  );
};

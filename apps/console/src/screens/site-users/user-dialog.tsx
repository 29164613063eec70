import { Alert, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../../api/account.js';
import { useChangeSiteUser, type SiteUserAction } from '../../api/site-users.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';
import { USER_ACTIONS, type OpenUserAction } from './user-actions.js';

/** The changes that another change takes back without a loss. */
const UNDOS: Readonly<Record<string, SiteUserAction>> = { grant_admin: 'revoke_admin', revoke_admin: 'grant_admin' };

type UserDialogProps = OpenUserAction & { readonly onClose: () => void };

/** Confirms a change of a user of the site. */
export const UserDialog = ({ user: { id, attributes }, action, onClose }: UserDialogProps) => {
  const change = useChangeSiteUser();
  const { data: account } = useQuery(accountQuery);
  const { username } = attributes;
  const words = USER_ACTIONS[action];
  const isOwn = account?.id === id;
  const reverse = UNDOS[action];
  // A person who is no administrator any more cannot take it back.
  const undo = reverse && !isOwn ? () => change.mutate({ id, action: reverse }) : undefined;
  return (
    <ConfirmDialog
      title={words.title(username)}
      action={words.action}
      change={change}
      {...(action === 'forget' ? { typed: username } : {})}
      onConfirm={() => change.mutate({ id, action }, reportAndClose(words.done(username), onClose, undo))}
      onClose={onClose}
    >
      <Stack gap="sm">
        {isOwn && (
          <Alert color="yellow" variant="light">
            This is your own account.
          </Alert>
        )}
        <span>{words.effect}</span>
      </Stack>
    </ConfirmDialog>
  );
};

import { Box, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { describeChangeError } from '../../api/api-error.js';
import { ownInvitationsQuery, useAcceptInvitation, type OwnInvitation } from '../../api/memberships.js';
import { Card } from '../../components/card.js';
import { focusHeading, recoverFocus } from '../../components/focus-return.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PendingButton } from '../../components/pending-button.js';
import { Time } from '../../components/times.js';
import { showToast } from '../../toasts.js';
import classes from './organizations.module.css';

const DeclineDialog = lazyComponent(() => import('./decline-dialog.js'), 'DeclineDialog');

const InvitationRow = ({ invitation }: { readonly invitation: OwnInvitation }) => {
  const { organization, since } = invitation;
  const [isDeclining, dialog] = useDisclosure(false);
  const acceptance = useAcceptInvitation(invitation);
  const accept = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `You are a member of ${organization} now.` });
      // The button leaves the screen.
      focusHeading();
    };
    const onError = (error: Error) => {
      const message = `The invitation to ${organization} is not accepted. ${describeChangeError(error)}`;
      showToast({ kind: 'error', message });
      recoverFocus();
    };
    acceptance.mutate(undefined, { onSuccess, onError });
  };
  return (
    <Group component="li" justify="space-between" gap="sm">
      <div>
        <b>{organization}</b>
        <Text size="sm" c="dimmed">
          Invited <Time value={since} />
        </Text>
      </div>
      <Group gap="sm">
        <Button
          variant="default"
          size="xs"
          aria-label={`Decline the invitation to ${organization}`}
          onClick={dialog.open}
        >
          Decline
        </Button>
        <PendingButton
          size="xs"
          aria-label={`Accept the invitation to ${organization}`}
          isPending={acceptance.isPending}
          onClick={accept}
        >
          Accept
        </PendingButton>
      </Group>
      {isDeclining && <DeclineDialog invitation={invitation} onClose={dialog.close} />}
    </Group>
  );
};

/** The invitations that the person can accept. Nothing without one. */
export const Invitations = () => {
  const { data: invitations = [] } = useQuery(ownInvitationsQuery);
  if (invitations.length === 0) return null;
  return (
    <Box mb="lg">
      <Card title="Invitations">
        <Text size="sm">You get access to an organization when you accept its invitation.</Text>
        <ul className={classes['invitations']}>
          {invitations.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </ul>
      </Card>
    </Box>
  );
};

import { MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { useInviteMember, useRemoveMember, type ListedMember } from '../../api/memberships.js';
import { teamSuggestionsQuery } from '../../api/teams.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

export const InviteDialog = ({ organization, onClose }: DialogProps) => {
  const [email, setEmail] = useState('');
  const [teams, setTeams] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, 200);
  const { data: suggestions = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const invitation = useInviteMember(organization);
  const invite = (event: SyntheticEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      showToast({ kind: 'success', message: `${email} is invited.` });
      onClose();
    };
    invitation.mutate({ email: email.trim(), teams }, { onSuccess });
  };
  return (
    <Dialog onClose={onClose} title="Invite a person">
      <form onSubmit={invite}>
        <Stack>
          <Text size="sm">The server sends no mail. Tell the person to sign in with this address, and to accept.</Text>
          <FormProblems error={invitation.error} fields={['email']} />
          <TextInput
            label="E-mail address"
            type="email"
            required
            data-autofocus
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={findFieldProblem(invitation.error, 'email')}
          />
          <MultiSelect
            label="Teams"
            description="Access comes from teams alone."
            searchable
            data={suggestions.map(({ id, attributes }) => ({ value: id, label: attributes.name }))}
            value={[...teams]}
            onChange={setTeams}
            onSearchChange={setText}
            comboboxProps={{ withinPortal: false }}
          />
          <DialogActions action="Invite" isPending={invitation.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
};

export const RemoveMemberDialog = ({
  organization,
  member,
  onClose,
}: DialogProps & { readonly member: ListedMember }) => {
  const removal = useRemoveMember(organization);
  const remove = () =>
    removal.mutate(member.id, {
      onSuccess: () => {
        showToast({ kind: 'success', message: `${member.name} is removed.` });
        onClose();
      },
    });
  return (
    <ConfirmDialog
      title={`Remove ${member.name}`}
      action={member.isInvited ? 'Withdraw the invitation' : 'Remove'}
      error={removal.error}
      isPending={removal.isPending}
      onConfirm={remove}
      onClose={onClose}
    >
      <Text size="sm">
        {member.isInvited
          ? `The invitation of ${member.email} ends.`
          : `${member.name} leaves all teams of ${organization} and loses all access to it at once. The account stays.`}
      </Text>
    </ConfirmDialog>
  );
};

import { MultiSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useInviteMember, useRemoveMember, type ListedMember } from '../../api/memberships.js';
import { teamSuggestionsQuery } from '../../api/teams.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

export const InviteDialog = ({ organization, onClose }: DialogProps) => {
  const [email, setEmail] = useState('');
  const [teams, setTeams] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, 200);
  const { data: suggestions = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const invitation = useInviteMember(organization);
  const invite = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `${email} is invited.` });
      onClose();
    };
    invitation.mutate({ email: email.trim(), teams }, { onSuccess });
  };
  return (
    <FormDialog
      title="Invite a person"
      action="Invite"
      isPending={invitation.isPending}
      intro={
        <Text size="sm">The server sends no mail. Tell the person to sign in with this address, and to accept.</Text>
      }
      error={invitation.error}
      fields={['email']}
      onSubmit={invite}
      onClose={onClose}
    >
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
    </FormDialog>
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

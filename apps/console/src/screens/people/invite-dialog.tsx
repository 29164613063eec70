import { MultiSelect, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useInviteMember, useRemoveMember, type ListedMember } from '../../api/memberships.js';
import { teamSuggestionsQuery } from '../../api/teams.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { toOption, useSuggestionText } from '../../components/search-select.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

export const InviteDialog = ({ organization, onClose }: DialogProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: suggestions = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const invitation = useInviteMember(organization);
  const form = useForm<{ email: string; teams: string[] }>({ email: '', teams: [] }, invitation);
  const { email } = form.trimmed;
  return (
    <FormDialog
      title="Invite a person"
      action="Invite"
      intro={
        <Text size="sm">The server sends no mail. Tell the person to sign in with this address, and to accept.</Text>
      }
      form={form}
      onSubmit={() => invitation.mutate(form.trimmed, reportAndClose(`${email} is invited.`, onClose))}
      onClose={onClose}
    >
      <TextInput label="E-mail address" type="email" required data-autofocus {...form.text('email')} />
      <MultiSelect
        label="Teams"
        description="Access comes from teams alone."
        searchable
        data={suggestions.map(toOption)}
        onSearchChange={onSearch}
        comboboxProps={{ withinPortal: false }}
        {...form.choice('teams')}
      />
    </FormDialog>
  );
};

type RemoveProps = DialogProps & { readonly member: ListedMember };

export const RemoveMemberDialog = ({ organization, member: { id, name, email, isInvited }, onClose }: RemoveProps) => {
  const removal = useRemoveMember(organization);
  return (
    <ConfirmDialog
      title={`Remove ${name}`}
      action={isInvited ? 'Withdraw the invitation' : 'Remove'}
      change={removal}
      onConfirm={() => removal.mutate(id, reportAndClose(`${name} is removed.`, onClose))}
      onClose={onClose}
    >
      {isInvited
        ? `The invitation of ${email} ends.`
        : `${name} leaves all teams of ${organization} and loses all access to it at once. The account stays.`}
    </ConfirmDialog>
  );
};

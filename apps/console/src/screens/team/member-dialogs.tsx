import { MultiSelect, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { memberSuggestionsQuery } from '../../api/memberships.js';
import { useChangeTeamMembers, type Team, type TeamMemberRow } from '../../api/teams.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly team: Team; readonly onClose: () => void };

type AddMembersProps = DialogProps & {
  /** The ids of the memberships that are in the team already, as far as they are loaded. */
  readonly present: ReadonlySet<string>;
};

export const AddMembersDialog = ({ organization, team, present, onClose }: AddMembersProps) => {
  const [memberships, setMemberships] = useState<readonly string[]>([]);
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text.trim(), 200);
  const { data: suggestions = [] } = useQuery(memberSuggestionsQuery(organization, searched));
  const change = useChangeTeamMembers(organization, team.id);
  const absent = suggestions.filter(({ id }) => !present.has(id));
  const options = new Map([
    ...names,
    ...absent.map(({ id, name, email }) => [id, email === '' ? name : `${name} (${email})`] as const),
  ]);
  const select = (ids: readonly string[]) => {
    setMemberships(ids);
    setNames(new Map(ids.map((id) => [id, options.get(id) ?? id])));
  };
  const add = (event: SyntheticEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      const people = memberships.length === 1 ? '1 person is' : `${memberships.length} people are`;
      showToast({ kind: 'success', message: `${people} in the team ${team.attributes.name} now.` });
      onClose();
    };
    change.mutate({ action: 'add', memberships }, { onSuccess });
  };
  return (
    <Dialog onClose={onClose} title={`Add people to ${team.attributes.name}`}>
      <form onSubmit={add}>
        {/* The list of suggestions fits in the dialog. */}
        <Stack mih="22rem" justify="space-between">
          <Stack>
            <Text size="sm">They get all access of the team at once.</Text>
            <FormProblems error={change.error} />
            <MultiSelect
              label="People"
              description="Only members of the organization can join a team."
              searchable
              data-autofocus
              data={[...options].map(([value, label]) => ({ value, label }))}
              value={[...memberships]}
              onChange={select}
              onSearchChange={setText}
              nothingFoundMessage="No other member matches"
              maxDropdownHeight={180}
              comboboxProps={{ withinPortal: false }}
            />
          </Stack>
          <DialogActions
            action="Add"
            isDisabled={memberships.length === 0}
            isPending={change.isPending}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
};

export const RemoveFromTeamDialog = ({
  organization,
  team,
  member,
  onClose,
}: DialogProps & { readonly member: TeamMemberRow }) => {
  const change = useChangeTeamMembers(organization, team.id);
  const remove = () =>
    change.mutate(
      { action: 'remove', memberships: [member.id] },
      {
        onSuccess: () => {
          showToast({
            kind: 'success',
            message: `${member.name} is no longer in the team ${team.attributes.name}.`,
            undo: () => change.mutate({ action: 'add', memberships: [member.id] }),
          });
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={`Remove ${member.name} from ${team.attributes.name}`}
      action="Remove"
      error={change.error}
      isPending={change.isPending}
      onConfirm={remove}
      onClose={onClose}
    >
      <Text size="sm">
        {member.name} loses the access of this team at once. Access by other teams and the membership of {organization}{' '}
        stay.
      </Text>
    </ConfirmDialog>
  );
};

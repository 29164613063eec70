import { MultiSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { memberSuggestionsQuery } from '../../api/memberships.js';
import { useChangeTeamMembers, type Team, type TeamMemberRow } from '../../api/teams.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useSuggestionText } from '../../components/search-select.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly team: Team; readonly onClose: () => void };

type AddMembersProps = DialogProps & {
  /** The ids of the memberships that are in the team already, as far as they are loaded. */
  readonly present: ReadonlySet<string>;
};

export const AddMembersDialog = ({ organization, team, present, onClose }: AddMembersProps) => {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const { searched, onSearch } = useSuggestionText();
  const { data: suggestions = [] } = useQuery(memberSuggestionsQuery(organization, searched.trim()));
  const change = useChangeTeamMembers(organization, team.id);
  const absent = suggestions.filter(({ id }) => !present.has(id));
  const options = new Map([
    ...names,
    ...absent.map(({ id, name, email }) => [id, email === '' ? name : `${name} (${email})`] as const),
  ]);
  const memberships = [...names.keys()];
  const add = () => {
    const people = memberships.length === 1 ? '1 person is' : `${memberships.length} people are`;
    const message = `${people} in the team ${team.attributes.name} now.`;
    change.mutate({ action: 'add', memberships }, reportAndClose(message, onClose));
  };
  return (
    <FormDialog
      title={`Add people to ${team.attributes.name}`}
      action="Add"
      isDisabled={memberships.length === 0}
      intro={<Text size="sm">They get all access of the team at once.</Text>}
      form={change}
      onSubmit={add}
      onClose={onClose}
    >
      <MultiSelect
        label="People"
        description="Only members of the organization can join a team."
        searchable
        data-autofocus
        // The list of suggestions fits in the dialog.
        mb="10rem"
        data={[...options].map(([value, label]) => ({ value, label }))}
        value={memberships}
        onChange={(ids) => setNames(new Map(ids.map((id) => [id, options.get(id) ?? id])))}
        onSearchChange={onSearch}
        nothingFoundMessage="No other member matches"
        maxDropdownHeight={180}
        comboboxProps={{ withinPortal: false }}
      />
    </FormDialog>
  );
};

type RemoveProps = DialogProps & { readonly member: TeamMemberRow };

export const RemoveFromTeamDialog = ({ organization, team, member: { id, name }, onClose }: RemoveProps) => {
  const change = useChangeTeamMembers(organization, team.id);
  const undo = () => change.mutate({ action: 'add', memberships: [id] });
  const message = `${name} is no longer in the team ${team.attributes.name}.`;
  return (
    <ConfirmDialog
      title={`Remove ${name} from ${team.attributes.name}`}
      action="Remove"
      change={change}
      onConfirm={() => change.mutate({ action: 'remove', memberships: [id] }, reportAndClose(message, onClose, undo))}
      onClose={onClose}
    >
      {name} loses the access of this team at once. Access by other teams and the membership of {organization} stay.
    </ConfirmDialog>
  );
};

import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memberSuggestionsQuery } from '../../api/memberships.js';
import { useUserNames } from '../../api/users.js';
import { useSuggestionText } from '../../components/search-select.js';

type RecipientsProps = {
  readonly organization: string;
  readonly description: string;
  readonly users: readonly string[];
  readonly error: string | null;
  readonly onChange: (users: readonly string[]) => void;
};

/** Chooses the members of the organization who get e-mails. */
export const RecipientsField = ({ organization, description, users, error, onChange }: RecipientsProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: suggestions = [] } = useQuery(memberSuggestionsQuery(organization, searched.trim()));
  const names = useUserNames(users);
  const options = new Map([
    ...users.map((id) => [id, names.get(id) ?? id] as const),
    ...suggestions.map(({ user, name }) => [user, name] as const),
  ]);
  return (
    <MultiSelect
      label="People"
      description={description}
      searchable
      data={[...options].map(([value, label]) => ({ value, label }))}
      value={[...users]}
      onChange={onChange}
      onSearchChange={onSearch}
      nothingFoundMessage="No other member matches"
      maxDropdownHeight={180}
      comboboxProps={{ withinPortal: false }}
      error={error}
    />
  );
};

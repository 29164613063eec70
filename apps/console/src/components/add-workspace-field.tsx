import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { workspaceSuggestionsQuery, type Workspace } from '../api/workspaces.js';
import { SearchSelect, toOption, useSuggestionText } from './search-select.js';

type AddWorkspaceFieldProps = {
  readonly label: string;
  readonly organization: string;
  /** The id of the workspace that nobody can choose. */
  readonly own: string;
  readonly onAdd: (added: Workspace) => void;
};

/** A choice adds the workspace. */
export const AddWorkspaceField = ({ label, organization, own, onAdd }: AddWorkspaceFieldProps) => {
  const { searched, onSearch } = useSuggestionText();
  const [count, setCount] = useState(0);
  const { data = [] } = useQuery(workspaceSuggestionsQuery(organization, searched));
  const suggestions = data.filter(({ id }) => id !== own);
  const add = (id: string | null): void => {
    const added = suggestions.find((each) => each.id === id);
    if (!added) return;
    onAdd(added);
    // Empties the field.
    setCount(count + 1);
  };
  return (
    <SearchSelect
      key={count}
      label={label}
      placeholder="Type a name"
      value={null}
      options={suggestions.map(toOption)}
      chosen={undefined}
      onSearch={onSearch}
      onChange={add}
    />
  );
};

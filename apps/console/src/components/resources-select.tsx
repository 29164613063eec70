import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { poolSuggestionsQuery } from '../api/agent-pools.js';
import { projectSuggestionsQuery } from '../api/projects.js';
import { useResourceNames } from '../api/resource-names.js';
import { workspaceSuggestionsQuery } from '../api/workspaces.js';
import { useSuggestionText } from './search-select.js';

type ManyProps = {
  readonly label: string;
  readonly description?: string;
  /** Ids. */
  readonly value: readonly string[];
  readonly error: string | null;
  readonly onChange: (ids: readonly string[]) => void;
};

type NamedSuggestion = { readonly id: string; readonly attributes: { readonly name: string } };

type ResourcesSelectProps = ManyProps & {
  readonly organization: string;
  readonly suggestions: readonly NamedSuggestion[];
  readonly onSearch: (text: string) => void;
};

const ResourcesSelect = ({ organization, suggestions, onSearch, value, ...props }: ResourcesSelectProps) => {
  const names = useResourceNames(organization, [value]);
  const options = new Map([
    ...value.map((id) => [id, names.get(id) ?? id] as const),
    ...suggestions.map(({ id, attributes }) => [id, attributes.name] as const),
  ]);
  return (
    <MultiSelect
      {...props}
      searchable
      data={[...options].map(([id, label]) => ({ value: id, label }))}
      value={[...value]}
      onSearchChange={onSearch}
      nothingFoundMessage="Nothing else matches"
      maxDropdownHeight={180}
      comboboxProps={{ withinPortal: false }}
    />
  );
};

type SelectProps = ManyProps & { readonly organization: string };

/** Chooses workspaces, with suggestions for what the person types. */
export const WorkspacesSelect = (props: SelectProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data = [] } = useQuery(workspaceSuggestionsQuery(props.organization, searched));
  return <ResourcesSelect {...props} suggestions={data} onSearch={onSearch} />;
};

/** Chooses projects, with suggestions for what the person types. */
export const ProjectsSelect = (props: SelectProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data = [] } = useQuery(projectSuggestionsQuery(props.organization, searched));
  return <ResourcesSelect {...props} suggestions={data} onSearch={onSearch} />;
};

/** Chooses agent pools, with suggestions for what the person types. */
export const AgentPoolsSelect = (props: SelectProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data = [] } = useQuery(poolSuggestionsQuery(props.organization, searched));
  return <ResourcesSelect {...props} suggestions={data} onSearch={onSearch} />;
};

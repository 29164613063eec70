import { useQuery } from '@tanstack/react-query';
import { projectQuery, projectSuggestionsQuery, type SuggestedProjects } from '../api/projects.js';
import { SearchSelect, toOption, useSuggestionText } from './search-select.js';

type ProjectSelectProps = {
  readonly organization: string;
  readonly label: string;
  readonly placeholder: string;
  /** The id of a project, or null. */
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
  readonly suggested?: SuggestedProjects;
  readonly required?: boolean;
  readonly description?: string;
  readonly error?: string | null;
};

/** Chooses a project, with suggestions for what the person types. */
export const ProjectSelect = ({ organization, value, suggested, ...props }: ProjectSelectProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: suggestions = [] } = useQuery(projectSuggestionsQuery(organization, searched, suggested));
  const { data: chosen } = useQuery({ ...projectQuery(organization, value ?? ''), enabled: value !== null });
  return (
    <SearchSelect
      {...props}
      value={value}
      options={suggestions.map(toOption)}
      chosen={chosen && toOption(chosen)}
      onSearch={onSearch}
    />
  );
};

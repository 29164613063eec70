import { useQuery } from '@tanstack/react-query';
import { agentPoolQuery, poolSuggestionsQuery } from '../api/agent-pools.js';
import { SearchSelect, toOption, useSuggestionText } from './search-select.js';

type AgentPoolSelectProps = {
  readonly organization: string;
  readonly label: string;
  /** The id of a pool, or null. */
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
  readonly description?: string;
  readonly error?: string | null;
};

/** Chooses an agent pool, with suggestions for what the person types. */
export const AgentPoolSelect = ({ organization, value, ...props }: AgentPoolSelectProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: suggestions = [] } = useQuery(poolSuggestionsQuery(organization, searched));
  const { data: chosen } = useQuery({ ...agentPoolQuery(organization, value ?? ''), enabled: value !== null });
  return (
    <SearchSelect
      {...props}
      placeholder="Choose a pool"
      value={value}
      options={suggestions.map(toOption)}
      chosen={chosen && toOption(chosen)}
      onSearch={onSearch}
    />
  );
};

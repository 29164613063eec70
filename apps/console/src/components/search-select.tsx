import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';

const TYPING_MS = 200;

/** The text of the field, as soon as the person stops typing. */
export const useSuggestionText = () => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  return { searched, onSearch: setText };
};

type NamedOption = { readonly id: string; readonly attributes: { readonly name: string } };
type SelectOption = { readonly value: string; readonly label: string };

export const toOption = ({ id, attributes }: NamedOption): SelectOption => ({ value: id, label: attributes.name });

type SearchSelectProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | null;
  readonly options: readonly SelectOption[];
  /** The option of the present value, which the suggestions can lack. */
  readonly chosen: SelectOption | undefined;
  readonly onSearch: (text: string) => void;
  readonly onChange: (value: string | null) => void;
  readonly required?: boolean;
  readonly description?: string;
  readonly error?: string | null;
};

/** Chooses one of many, with suggestions for what the person types. */
export const SearchSelect = ({ label, value, options, chosen, onSearch, onChange, ...props }: SearchSelectProps) => {
  const all = new Map([...(chosen ? [chosen] : []), ...options].map((option) => [option.value, option]));
  // While the field shows its value, the person has typed nothing, and sees all suggestions.
  const search = (text: string): void => onSearch(value !== null && all.get(value)?.label === text ? '' : text);
  return (
    <Select
      {...props}
      label={label}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Clear: ${label}` }}
      data={[...all.values()]}
      value={value}
      onChange={onChange}
      onSearchChange={search}
    />
  );
};

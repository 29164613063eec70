import { TextInput } from '@mantine/core';
import { useRef } from 'react';
import { useShortcut } from '../shortcuts/shortcuts.js';
import { SearchIcon } from './icons.js';
import { useSearchText } from './search-text.js';

export type SearchFieldProps = {
  /** Names the field, and the shortcut `/`. */
  readonly label: string;
  readonly placeholder?: string;
  readonly text: string;
  /** Receives the text when the person stops typing. */
  readonly onText: (text: string) => void;
};

/** Searches a list by a text. The shortcut `/` leads to it. */
export const SearchField = ({ label, placeholder = 'Search by name', text, onText }: SearchFieldProps) => {
  const input = useRef<HTMLInputElement>(null);
  const field = useSearchText(text, onText);
  useShortcut({ keys: '/', label, run: () => input.current?.focus() });
  return (
    <TextInput
      ref={input}
      type="search"
      flex={1}
      miw="12rem"
      maw="26rem"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<SearchIcon size={16} />}
      value={field.text}
      onChange={(event) => field.type(event.currentTarget.value)}
    />
  );
};

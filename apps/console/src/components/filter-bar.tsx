import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { useShortcut } from '../shortcuts/shortcuts.js';
import { SearchIcon } from './icons.js';
import { useSearchText } from './search-text.js';

type FilterBarProps = {
  /** Names the field. The shortcut `/` has this name too. */
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  /** Receives the text when the person stops typing. */
  readonly onText: (text: string) => void;
  readonly statuses: readonly { readonly value: string; readonly label: string }[];
  readonly status: string;
  readonly onStatus: (status: string) => void;
};

/** Searches a list by a text, and filters it by a status. */
export const FilterBar = ({ label, placeholder, text, onText, statuses, status, onStatus }: FilterBarProps) => {
  const input = useRef<HTMLInputElement>(null);
  const field = useSearchText(text, onText);
  useShortcut({ keys: '/', label, run: () => input.current?.focus() });
  return (
    <Group gap="sm" mb="md">
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
      <SegmentedControl
        transitionDuration={0}
        aria-label="Status"
        data={[...statuses]}
        value={status}
        onChange={onStatus}
      />
    </Group>
  );
};

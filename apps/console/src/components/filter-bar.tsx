import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { useShortcut } from '../shortcuts/shortcuts.js';
import { SearchIcon } from './icons.js';

const TYPING_MS = 200;

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
  const [typed, setTyped] = useState(text);
  const apply = useDebouncedCallback((value: string) => onText(value.trim()), TYPING_MS);
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
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          apply(event.currentTarget.value);
        }}
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

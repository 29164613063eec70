import { Button, Group, Text, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { ChevronDownIcon, SearchIcon } from '../../components/icons.js';
import { useSearchText } from '../../components/search-text.js';
import { useShortcut } from '../../shortcuts/shortcuts.js';
import type { ChangeSearch, ListSearch } from './workspaces.search.js';
import classes from './workspaces.module.css';
import { formatCount } from '../../components/counts.js';

const FilterPanel = lazyComponent(() => import('./filter-panel.js'), 'FilterPanel');

/** Returns the number of filters besides the name. */
const countFilters = ({ tags = [], project, status = [], gaps, locked }: ListSearch): number =>
  tags.length + status.length + [project, gaps, locked].filter((each) => each !== undefined).length;

type ToolbarProps = {
  readonly organization: string;
  readonly search: ListSearch;
  readonly total: number | undefined;
  readonly onChange: ChangeSearch;
};

const NameSearch = ({ name, onChange }: { readonly name: string; readonly onChange: ChangeSearch }) => {
  const input = useRef<HTMLInputElement>(null);
  const field = useSearchText(name, (text) => onChange({ name: text || undefined }));
  useShortcut({ keys: '/', label: 'Search workspaces', run: () => input.current?.focus() });
  return (
    <TextInput
      ref={input}
      type="search"
      className={classes['search']}
      aria-label="Search workspaces by name"
      placeholder="Search by name"
      leftSection={<SearchIcon size={16} />}
      value={field.text}
      onChange={(event) => field.type(event.currentTarget.value)}
    />
  );
};

/** Searches and filters the list. The address keeps what was chosen. */
export const WorkspaceToolbar = ({ organization, search, total, onChange }: ToolbarProps) => {
  const filters = countFilters(search);
  const [isOpen, setOpen] = useState(filters > 0);
  return (
    <>
      <Group gap="sm" className={classes['toolbar']}>
        <NameSearch name={search.name ?? ''} onChange={onChange} />
        <Button
          variant="default"
          aria-expanded={isOpen}
          rightSection={<ChevronDownIcon size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {filters === 0 ? 'Filters' : `Filters (${filters})`}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {total === undefined ? 'Loading …' : formatCount(total, 'workspace')}
        </Text>
      </Group>
      {isOpen && <FilterPanel organization={organization} search={search} onChange={onChange} />}
    </>
  );
};

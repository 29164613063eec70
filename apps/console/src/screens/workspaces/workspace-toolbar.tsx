import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { ChevronDownIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { RowTotal } from '../../components/row-total.js';
import { SearchField } from '../../components/search-field.js';
import type { ChangeSearch, ListSearch } from './workspaces.search.js';

const FilterPanel = lazyComponent(() => import('./filter-panel.js'), 'FilterPanel');

/** Returns the number of filters besides the name. */
const countFilters = ({ tags = [], project, status = [], gaps, locked }: ListSearch): number =>
  tags.length + status.length + [project, gaps, locked].filter((each) => each !== undefined).length;

type ToolbarProps = {
  readonly organization: string;
  readonly search: ListSearch;
  readonly list: { readonly total: number | undefined; readonly error: Error | null };
  readonly onChange: ChangeSearch;
};

/** Searches and filters the list. The address keeps what was chosen. */
export const WorkspaceToolbar = ({ organization, search, list, onChange }: ToolbarProps) => {
  const filters = countFilters(search);
  const [isOpen, setOpen] = useState(filters > 0);
  return (
    <>
      <Group gap="sm" mb="0.75rem">
        <SearchField
          label="Search workspaces by name"
          text={search.name ?? ''}
          onText={(name) => onChange({ name: name || undefined })}
        />
        <Button
          variant="default"
          aria-expanded={isOpen}
          rightSection={<ChevronDownIcon size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {filters === 0 ? 'Filters' : `Filters (${filters})`}
        </Button>
        <RowTotal total={list.total} error={list.error} noun={['workspace']} />
      </Group>
      {isOpen && <FilterPanel organization={organization} search={search} onChange={onChange} />}
    </>
  );
};

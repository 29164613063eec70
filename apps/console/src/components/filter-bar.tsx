import { Group, SegmentedControl } from '@mantine/core';
import { SearchField, type SearchFieldProps } from './search-field.js';

type FilterBarProps = SearchFieldProps & {
  readonly statuses: readonly { readonly value: string; readonly label: string }[];
  readonly status: string;
  readonly onStatus: (status: string) => void;
};

/** Searches a list by a text, and filters it by a status. */
export const FilterBar = ({ statuses, status, onStatus, ...search }: FilterBarProps) => (
  <Group gap="sm" mb="md">
    <SearchField {...search} />
    <SegmentedControl
      transitionDuration={0}
      aria-label="Status"
      data={[...statuses]}
      value={status}
      onChange={onStatus}
    />
  </Group>
);

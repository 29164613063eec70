import { Group, NativeSelect, SegmentedControl } from '@mantine/core';
import { SearchField, type SearchFieldProps } from './search-field.js';

type FilterBarProps = SearchFieldProps & {
  readonly statuses: readonly { readonly value: string; readonly label: string }[];
  readonly status: string;
  readonly onStatus: (status: string) => void;
};

/** More statuses beside each other are wider than a phone. */
const MAX_ON_PHONE = 3;

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
      {...(statuses.length > MAX_ON_PHONE ? { visibleFrom: 'sm' } : {})}
    />
    {statuses.length > MAX_ON_PHONE && (
      <NativeSelect
        hiddenFrom="sm"
        aria-label="Status"
        data={[...statuses]}
        value={status}
        onChange={(event) => onStatus(event.currentTarget.value)}
      />
    )}
  </Group>
);

import {
  Button,
  Checkbox,
  Group,
  Input,
  MultiSelect,
  SegmentedControl,
  SimpleGrid,
  Stack,
  TagsInput,
} from '@mantine/core';
import { formatRunStatus, type StatusOfRun } from '../../components/run-status.js';
import { LOCK_STATES } from '../../api/workspaces.js';
import { ProjectSelect } from '../../components/project-select.js';
import {
  NO_FILTERS,
  OPTIONAL_COLUMNS,
  type ChangeSearch,
  type ListSearch,
  type OptionalColumn,
} from './workspaces.search.js';
import classes from './workspaces.module.css';

const STATUSES: readonly { readonly group: string; readonly items: readonly StatusOfRun[] }[] = [
  { group: 'Needs attention', items: ['planned', 'policy_checked', 'cost_estimated', 'policy_override', 'errored'] },
  { group: 'In progress', items: ['pending', 'plan_queued', 'planning', 'confirmed', 'apply_queued', 'applying'] },
  {
    group: 'Ended',
    items: ['applied', 'planned_and_finished', 'planned_and_saved', 'discarded', 'canceled', 'force_canceled'],
  },
];

const STATUS_OPTIONS = STATUSES.map(({ group, items }) => ({
  group,
  items: items.map((value) => ({ value, label: formatRunStatus(value) })),
}));

type FilterPanelProps = {
  readonly organization: string;
  readonly search: ListSearch;
  readonly onChange: ChangeSearch;
};

const COLUMN_LABELS: Readonly<Record<OptionalColumn, string>> = {
  run: 'Current run',
  project: 'Project',
  tags: 'Tags',
  resources: 'Resources',
  changed: 'State changed',
};

const ColumnChoice = ({ search: { columns = OPTIONAL_COLUMNS }, onChange }: Omit<FilterPanelProps, 'organization'>) => (
  <Checkbox.Group
    label="Columns"
    value={[...columns]}
    onChange={(values) => onChange({ columns: OPTIONAL_COLUMNS.filter((column) => values.includes(column)) })}
  >
    <Group mt={6} gap="md">
      {OPTIONAL_COLUMNS.map((column) => (
        <Checkbox
          key={column}
          size="xs"
          value={column}
          label={COLUMN_LABELS[column]}
          // The name alone is too little to compare workspaces.
          disabled={columns.length === 1 && columns.includes(column)}
        />
      ))}
    </Group>
  </Checkbox.Group>
);

const LockChoice = ({ search: { locked }, onChange }: Omit<FilterPanelProps, 'organization'>) => (
  <Input.Wrapper label="Lock" labelElement="div">
    <SegmentedControl
      transitionDuration={0}
      display="flex"
      w="fit-content"
      size="xs"
      aria-label="Lock"
      data={[
        { value: 'any', label: 'Any' },
        { value: 'true', label: 'Locked' },
        { value: 'false', label: 'Unlocked' },
      ]}
      value={locked ?? 'any'}
      onChange={(value) => onChange({ locked: LOCK_STATES.find((each) => each === value) })}
    />
  </Input.Wrapper>
);

/** Returns `key:value`, the form of the filter, for `key=value`, the form that the rest of the console shows. */
const toTagFilter = (text: string): string => text.replace(/^([^:=]+?)\s*=\s*/, '$1:');

const TagsFilter = ({ search: { tags = [] }, onChange }: Omit<FilterPanelProps, 'organization'>) => (
  <TagsInput
    label="Tags"
    placeholder={tags.length === 0 ? 'env or env=prod' : ''}
    clearable
    clearButtonProps={{ 'aria-label': 'Clear the tags' }}
    value={[...tags]}
    onChange={(values) => {
      // A key can contain an equals sign, in addresses and saved views.
      const filters = values.map((value) => (tags.includes(value) ? value : toTagFilter(value)));
      onChange({ tags: filters.length > 0 ? [...new Set(filters)] : undefined });
    }}
  />
);

/** The filters that the API offers, besides the name. */
export const FilterPanel = ({ organization, search, onChange }: FilterPanelProps) => {
  const { project, status = [], gaps } = search;
  return (
    <section className={classes['panel']} aria-label="Filters">
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <ProjectSelect
          organization={organization}
          label="Project"
          placeholder="All projects"
          value={project ?? null}
          onChange={(id) => onChange({ project: id ?? undefined })}
        />
        <TagsFilter search={search} onChange={onChange} />
        <MultiSelect
          label="Status of the current run"
          placeholder={status.length === 0 ? 'All statuses' : ''}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the statuses' }}
          data={STATUS_OPTIONS}
          value={[...status]}
          onChange={(values) => onChange({ status: values.length > 0 ? values : undefined })}
        />
      </SimpleGrid>
      <Stack mt="md" gap="md" align="flex-start">
        <LockChoice search={search} onChange={onChange} />
        <Checkbox
          label="Only workspaces without a value for a reserved tag key"
          checked={gaps === 'true'}
          onChange={(event) => onChange({ gaps: event.currentTarget.checked ? 'true' : undefined })}
        />
        <ColumnChoice search={search} onChange={onChange} />
        <Button variant="subtle" size="compact-sm" onClick={() => onChange(NO_FILTERS)}>
          Clear the filters
        </Button>
      </Stack>
    </section>
  );
};

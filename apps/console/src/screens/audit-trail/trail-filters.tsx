import { Button, Group, SimpleGrid, TagsInput, TextInput } from '@mantine/core';
import type { AuditTrailFilter } from '../../api/audit-trail.js';
import classes from './audit-trail.module.css';

const HOUR_MS = 60 * 60 * 1_000;
const PERIODS = [
  { label: 'Last hour', length: HOUR_MS },
  { label: 'Last 24 hours', length: 24 * HOUR_MS },
  { label: 'Last 7 days', length: 7 * 24 * HOUR_MS },
] as const;

const NO_FILTER = {
  since: undefined,
  until: undefined,
  type: undefined,
  action: undefined,
  actor: undefined,
  resource: undefined,
} as const;

/** Changes members of the filter. Undefined removes a member. */
export type ChangeTrailFilter = (changes: {
  readonly [K in keyof AuditTrailFilter]?: AuditTrailFilter[K] | undefined;
}) => void;

const pad = (n: number): string => String(n).padStart(2, '0');

/** Returns a time in the zone of the reader, as fields for a time show it. */
const toLocalField = (iso: string | undefined): string => {
  const time = new Date(iso ?? '');
  if (Number.isNaN(time.getTime())) return '';
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  return `${day}T${pad(time.getHours())}:${pad(time.getMinutes())}`;
};

const fromLocalField = (text: string): string | undefined => {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};

type FilterProps = {
  readonly filter: AuditTrailFilter;
  /** Types and actions in the list, as suggestions. */
  readonly suggestions: { readonly types: readonly string[]; readonly actions: readonly string[] };
  readonly onChange: ChangeTrailFilter;
};

type ListFilterProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly values: readonly string[] | undefined;
  readonly suggestions?: readonly string[];
  readonly onChange: (values: readonly string[] | undefined) => void;
};

const ListFilter = ({ label, placeholder, values = [], suggestions = [], onChange }: ListFilterProps) => (
  <TagsInput
    label={label}
    placeholder={values.length === 0 ? placeholder : ''}
    clearable
    clearButtonProps={{ 'aria-label': `Clear: ${label}` }}
    data={[...suggestions]}
    value={[...values]}
    onChange={(next) => onChange(next.length > 0 ? next : undefined)}
  />
);

const TimeFilter = ({ filter: { since, until }, onChange }: Pick<FilterProps, 'filter' | 'onChange'>) => (
  <>
    <TextInput
      label="From"
      type="datetime-local"
      value={toLocalField(since)}
      onChange={(event) => onChange({ since: fromLocalField(event.currentTarget.value) })}
    />
    <TextInput
      label="To"
      type="datetime-local"
      value={toLocalField(until)}
      onChange={(event) => onChange({ until: fromLocalField(event.currentTarget.value) })}
    />
  </>
);

/** The filters that the API offers. */
export const TrailFilters = ({ filter, suggestions, onChange }: FilterProps) => (
  <section className={classes['panel']} aria-label="Filters">
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
      <ListFilter
        label="Type of resource"
        placeholder="workspace"
        values={filter.type}
        suggestions={suggestions.types}
        onChange={(type) => onChange({ type })}
      />
      <ListFilter
        label="Action"
        placeholder="lock"
        values={filter.action}
        suggestions={suggestions.actions}
        onChange={(action) => onChange({ action })}
      />
      <ListFilter
        label="Who"
        placeholder="a name or an id"
        values={filter.actor}
        onChange={(actor) => onChange({ actor })}
      />
      <ListFilter
        label="Id of the resource"
        placeholder="ws-…"
        values={filter.resource}
        onChange={(resource) => onChange({ resource })}
      />
      <TimeFilter filter={filter} onChange={onChange} />
    </SimpleGrid>
    <Group mt="sm" gap="xs">
      {PERIODS.map(({ label, length }) => (
        <Button
          key={label}
          variant="default"
          size="compact-sm"
          onClick={() => onChange({ since: new Date(Date.now() - length).toISOString(), until: undefined })}
        >
          {label}
        </Button>
      ))}
      <Button variant="subtle" size="compact-sm" onClick={() => onChange(NO_FILTER)}>
        Clear the filters
      </Button>
    </Group>
  </section>
);

import { Button, Group, MultiSelect, Select, SimpleGrid, TagsInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { projectQuery, projectSuggestionsQuery } from '../../api/projects.js';
import type { WorkspaceSearch } from '../../api/workspaces.js';
import { formatRunStatus, type StatusOfRun } from '../../components/run-status.js';
import type { ChangeSearch } from './workspaces.search.js';
import classes from './workspaces.module.css';

const TYPING_MS = 200;

const STATUSES: readonly { readonly group: string; readonly items: readonly StatusOfRun[] }[] = [
  { group: 'Needs a person', items: ['planned', 'policy_checked', 'cost_estimated', 'policy_override', 'errored'] },
  { group: 'Works', items: ['pending', 'plan_queued', 'planning', 'confirmed', 'apply_queued', 'applying'] },
  {
    group: 'Has ended',
    items: ['applied', 'planned_and_finished', 'planned_and_saved', 'discarded', 'canceled', 'force_canceled'],
  },
];

const STATUS_OPTIONS = STATUSES.map(({ group, items }) => ({
  group,
  items: items.map((value) => ({ value, label: formatRunStatus(value) })),
}));

type FilterPanelProps = {
  readonly organization: string;
  readonly search: WorkspaceSearch;
  readonly onChange: ChangeSearch;
};

const ProjectFilter = ({ organization, search: { project }, onChange }: FilterPanelProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  const { data: suggestions = [] } = useQuery(projectSuggestionsQuery(organization, searched));
  const { data: chosen } = useQuery({ ...projectQuery(organization, project ?? ''), enabled: project !== undefined });
  const projects = new Map([...suggestions, ...(chosen ? [chosen] : [])].map((each) => [each.id, each]));
  return (
    <Select
      label="Project"
      placeholder="All projects"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the project' }}
      data={[...projects.values()].map(({ id, attributes: { name } }) => ({ value: id, label: name }))}
      value={project ?? null}
      onChange={(id) => onChange({ project: id ?? undefined })}
      onSearchChange={setText}
    />
  );
};

/** The filters that the API offers, besides the name. */
export const FilterPanel = ({ organization, search, onChange }: FilterPanelProps) => {
  const { tags = [], status = [] } = search;
  return (
    <section className={classes['panel']} aria-label="Filters">
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <ProjectFilter organization={organization} search={search} onChange={onChange} />
        <TagsInput
          label="Tags"
          placeholder={tags.length === 0 ? 'env or env:prod' : ''}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the tags' }}
          value={[...tags]}
          onChange={(values) => onChange({ tags: values.length > 0 ? values : undefined })}
        />
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
      <Group mt="sm">
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => onChange({ tags: undefined, project: undefined, status: undefined })}
        >
          Clear the filters
        </Button>
      </Group>
    </section>
  );
};

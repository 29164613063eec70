import { Button, Group, MultiSelect, SimpleGrid, TagsInput } from '@mantine/core';
import type { WorkspaceSearch } from '../../api/workspaces.js';
import { formatRunStatus, type StatusOfRun } from '../../components/run-status.js';
import { ProjectSelect } from './project-select.js';
import type { ChangeSearch } from './workspaces.search.js';
import classes from './workspaces.module.css';

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

/** The filters that the API offers, besides the name. */
export const FilterPanel = ({ organization, search, onChange }: FilterPanelProps) => {
  const { tags = [], project, status = [] } = search;
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

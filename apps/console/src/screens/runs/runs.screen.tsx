import { Group, SegmentedControl, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { organizationRunsQuery, type RunSearch } from '../../api/runs.js';
import { RunIcon, SearchIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { RunList } from '../../components/run-list.js';
import { EmptyState } from '../../components/states.js';
import { usePollInterval } from '../../live/live-state.js';
import { useShortcut } from '../../shortcuts/shortcuts.js';
import { parseRunSearch } from './runs.search.js';

const TYPING_MS = 250;
const POLL_MS = 15_000;

const GROUPS = [
  { value: '', label: 'All' },
  { value: 'non_final', label: 'Not ended' },
  { value: 'final', label: 'Ended' },
];

type FilterProps = { readonly search: RunSearch; readonly onChange: (changes: Record<string, string>) => void };

const RunFilter = ({ search, onChange }: FilterProps) => {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(search.q ?? '');
  const apply = useDebouncedCallback((q: string) => onChange({ q: q.trim() }), TYPING_MS);
  useShortcut({ keys: '/', label: 'Search runs', run: () => input.current?.focus() });
  return (
    <Group gap="sm" mb="md">
      <TextInput
        ref={input}
        type="search"
        aria-label="Search runs"
        placeholder="Message, person or id"
        leftSection={<SearchIcon size={16} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          apply(event.currentTarget.value);
        }}
      />
      <SegmentedControl
        transitionDuration={0}
        aria-label="Status"
        data={GROUPS}
        value={search.group ?? ''}
        onChange={(group) => onChange({ group })}
      />
    </Group>
  );
};

const NoRun = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <EmptyState icon={RunIcon} title={isFiltered ? 'No run matches' : 'There is no run yet'}>
    <Text>
      {isFiltered
        ? 'Change the search or the status to see other runs.'
        : 'The runs of all workspaces that you may read appear here. The screen of a workspace shows how to queue one.'}
    </Text>
  </EmptyState>
);

/** The runs of an organization. */
export const RunsScreen = () => {
  const { organization } = useParams({ from: '/$organization/runs' });
  const search = useSearch({ from: '/$organization/runs' });
  const navigate = useNavigate({ from: '/$organization/runs' });
  const refetchInterval = usePollInterval(POLL_MS);
  const query = useInfiniteQuery({ ...organizationRunsQuery(organization, search), refetchInterval });
  return (
    <Page title="Runs" breadcrumbs={[{ label: organization }]}>
      <RunFilter
        search={search}
        onChange={(changes) =>
          void navigate({ search: (before) => parseRunSearch({ ...before, ...changes }), replace: true })
        }
      />
      <RunList
        organization={organization}
        query={query}
        withWorkspace
        empty={<NoRun isFiltered={Object.keys(search).length > 0} />}
      />
    </Page>
  );
};

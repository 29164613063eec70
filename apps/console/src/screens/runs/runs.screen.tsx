import { Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { organizationRunsQuery } from '../../api/runs.js';
import { FilterBar } from '../../components/filter-bar.js';
import { RunIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { RunList } from '../../components/run-list.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { usePollInterval } from '../../live/live-state.js';
import { PickedRuns } from './picked-runs.js';
import { parseRunSearch } from './runs.search.js';

const POLL_MS = 15_000;

const GROUPS = [
  { value: '', label: 'All' },
  { value: 'non_final', label: 'Not ended' },
  { value: 'final', label: 'Ended' },
  { value: 'me', label: 'Wait for you' },
  { value: 'others', label: 'Wait for others' },
];

/** Returns the search with another status. A run that waits has not ended, so one of the two filters is enough. */
const chooseStatus = (status: string): Readonly<Record<'group' | 'waits', string>> =>
  status === 'me' || status === 'others' ? { group: '', waits: status } : { group: status, waits: '' };

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
  const change = (changes: Readonly<Record<string, string>>) =>
    void navigate({ search: (before) => parseRunSearch({ ...before, ...changes }), replace: true });
  return (
    <Page
      title="Runs"
      actions={
        <Group gap="md">
          <TextLink to="/$organization/runs/health" params={{ organization }}>
            Health
          </TextLink>
          <TextLink to="/$organization/runs/triggers" params={{ organization }}>
            Run triggers
          </TextLink>
        </Group>
      }
    >
      <FilterBar
        label="Search runs"
        placeholder="Message, person or id"
        text={search.q ?? ''}
        onText={(q) => change({ q })}
        statuses={GROUPS}
        status={search.waits ?? search.group ?? ''}
        onStatus={(status) => change(chooseStatus(status))}
      />
      <PickedRuns search={search} onClear={() => change({ result: '', since: '', before: '', workspace: '' })} />
      <RunList
        organization={organization}
        query={query}
        withWorkspace
        empty={<NoRun isFiltered={Object.values(search).some((each) => each !== undefined)} />}
      />
    </Page>
  );
};

import { SimpleGrid } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { changesQuery, type ChangePage } from '../../api/history.js';
import { useResourceNames, type NamesById } from '../../api/resource-names.js';
import { workspaceRunsQuery } from '../../api/runs.js';
import { workspaceQuery, type WorkspaceDocument } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { ResourceNamesContext } from '../../components/resource-name.js';
import { useNow } from '../../components/times.js';
import { ChangeList } from './change-list.js';
import { listTexts } from './field-texts.js';
import { TimeSlider } from './time-slider.js';
import { WorkspaceAt } from './workspace-at.js';

const SETTLED_MS = 150;
const ROUTE = '/$organization/workspaces/$workspace/timeline';

/** Returns the names in these pages of changes: those of runs contain the id, because several runs can have the same message. */
const useTimelineNames = ({ organization, workspace }: TimelineProps, pages: readonly ChangePage[] = []): NamesById => {
  const { id, attributes } = workspace.data;
  const groups = pages.map(({ data }) => data.flatMap((change) => listTexts(change.attributes.changes)));
  const resources = useResourceNames(organization, groups);
  const runs = useInfiniteQuery({
    ...workspaceRunsQuery(organization, id),
    enabled: attributes.permissions['can-read-run'] && groups.flat().some((text) => text.startsWith('run-')),
  });
  const rows = runs.data?.pages.flatMap((page) => page.data) ?? [];
  return new Map([
    ...resources,
    ...rows.flatMap(({ id: run, attributes: { message } }) =>
      message === '' ? [] : [[run, `${message} (${run})`] as const],
    ),
  ]);
};

type TimelineProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

const Timeline = ({ organization, workspace }: TimelineProps) => {
  const { at } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: ROUTE });
  const now = useNow();
  const [settled] = useDebouncedValue(at, SETTLED_MS);
  const { id, attributes } = workspace.data;
  const { data } = useInfiniteQuery(changesQuery(organization, attributes.name, id));
  const names = useTimelineNames({ organization, workspace }, data?.pages);
  const times = data?.pages.flatMap((page) => page.data.map((change) => Date.parse(change.attributes['created-at'])));
  const show = (time: string | undefined) =>
    void navigate({ search: time === undefined ? {} : { at: time }, replace: true, resetScroll: false });
  return (
    <ResourceNamesContext value={names}>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Card title="Workspace at any time">
          <TimeSlider
            first={Date.parse(attributes['created-at'])}
            last={now}
            value={at === undefined ? now : Date.parse(at)}
            marks={(times ?? []).toSorted((a, b) => a - b)}
            onChange={(time) => show(new Date(time).toISOString())}
            onNow={() => show(undefined)}
          />
          <WorkspaceAt organization={organization} now={workspace} at={at === undefined ? undefined : settled} />
        </Card>
        <Card title="Changes">
          <ChangeList organization={organization} workspace={workspace.data} at={at} onShow={show} />
        </Card>
      </SimpleGrid>
    </ResourceNamesContext>
  );
};

/** Every change of a workspace, and the workspace as it was at any time. */
export const WorkspaceTimelineScreen = () => {
  const { organization, workspace: name } = useParams({ from: ROUTE });
  const { data } = useQuery(workspaceQuery(organization, name));
  return data ? <Timeline organization={organization} workspace={data} /> : null;
};

import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationRunTriggersQuery, type RunTrigger } from '../../api/run-triggers.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RunIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import type { DrawnTrigger } from './trigger-layout.js';

const TriggerGraph = lazyComponent(() => import('./trigger-graph.js'), 'TriggerGraph');

/** The list has only triggers whose two workspaces the person may read, so that both have a name. */
const toEdge = ({ id, attributes }: RunTrigger): DrawnTrigger => ({
  id,
  source: attributes['sourceable-name'] ?? '',
  target: attributes['workspace-name'] ?? '',
});

const NoTrigger = () => (
  <EmptyState icon={RunIcon} title="There is no run trigger yet">
    <Text>
      With a run trigger, each apply of one workspace starts a run in another one. The settings of a workspace have a
      card for it. You see the triggers between workspaces whose runs you may read.
    </Text>
  </EmptyState>
);

const WorkspaceLink = ({ organization, name }: { readonly organization: string; readonly name: string }) => (
  <TextLink to="/$organization/workspaces/$workspace/settings" params={{ organization, workspace: name }}>
    {name}
  </TextLink>
);

const TriggerList = ({ organization, edges }: { organization: string; edges: readonly DrawnTrigger[] }) => {
  const columns: readonly DataColumn<DrawnTrigger>[] = [
    { header: 'After applies of', cell: ({ source }) => <WorkspaceLink organization={organization} name={source} /> },
    { header: 'Runs start in', cell: ({ target }) => <WorkspaceLink organization={organization} name={target} /> },
  ];
  return <DataTable label="Run triggers" rows={edges} columns={columns} />;
};

/** All run triggers of an organization, as a graph and as a list. */
export const RunTriggersScreen = () => {
  const { organization } = useParams({ from: '/$organization/runs/triggers' });
  const query = useInfiniteQuery(organizationRunTriggersQuery(organization));
  return (
    <Page title="Run triggers" description="Where the applies of workspaces start runs.">
      <PagedList query={query} what="organization" empty={<NoTrigger />}>
        {(triggers) => {
          const edges = triggers.map(toEdge);
          return (
            <>
              <TriggerGraph organization={organization} edges={edges} />
              <TriggerList organization={organization} edges={edges} />
            </>
          );
        }}
      </PagedList>
    </Page>
  );
};

import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useMatches, useParams } from '@tanstack/react-router';
import { isDenied } from '../../api/api-error.js';
import { findIncluded } from '../../api/included.js';
import { workspaceQuery, type WorkspaceDocument } from '../../api/workspaces.js';
import { LockIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { RunStatusBadge } from '../../components/run-status.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TabLinks, type TabLink } from '../../components/tab-links.js';
import { DestroyBanner } from './destroy-banner.js';
import { useFollowRename } from './follow-rename.js';
import { LockActions } from './lock-actions.js';
import { explainLocalExecution, NewRunButton } from './new-run-button.js';
import { WORKSPACE_TABS } from './tabs.js';

const StateBadges = ({ workspace }: { readonly workspace: WorkspaceDocument }) => {
  const run = findIncluded(workspace, workspace.data.relationships['current-run'].data);
  return (
    <>
      {workspace.data.attributes.locked && (
        <Badge color="orange" leftSection={<LockIcon size={12} />}>
          Locked
        </Badge>
      )}
      {run && <RunStatusBadge run={{ status: run.attributes.status, hasChanges: run.attributes['has-changes'] }} />}
    </>
  );
};

const listTabs = (base: string): readonly TabLink[] =>
  WORKSPACE_TABS.map(({ label, path }) =>
    path === '' ? { label, to: base } : { label, to: `${base}/${path}`, isParent: true },
  );

/** Returns the name of the screen below the workspace; undefined for the first one, which has the name of the workspace. */
const useScreenName = (): string | undefined => {
  const run = useParams({ strict: false, select: (params) => params.run });
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' });
  const path = route.split('$workspace')[1] ?? '';
  if (path === '/') return undefined;
  if (run !== undefined) return `Run ${run}`;
  return WORKSPACE_TABS.find((tab) => `/${tab.path}` === path)?.label ?? 'Not found';
};

/** What all screens of a workspace have: its name, its lock and its tabs. */
export const WorkspaceScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace' });
  const query = useQuery(workspaceQuery(organization, name));
  const list = `/${organization}/workspaces`;
  // The header, too, shows nothing that the person may no longer read.
  const isMoving = useFollowRename(organization, query);
  const workspace = isDenied(query.error) && !isMoving ? undefined : query.data;
  const visibleQuery = { data: query.data, error: isMoving ? null : query.error, refetch: query.refetch };
  const screen = useScreenName();
  return (
    <Page
      title={name}
      screen={screen}
      description={workspace?.data.attributes.description}
      badges={workspace && <StateBadges workspace={workspace} />}
      actions={
        workspace && (
          <>
            <LockActions organization={organization} workspace={workspace} />
            {explainLocalExecution(workspace.data) === null && (
              // Other screens have a next step of their own.
              <NewRunButton
                organization={organization}
                workspace={workspace.data}
                variant={screen === undefined || screen === 'Runs' ? 'filled' : 'default'}
              />
            )}
          </>
        )
      }
    >
      <QueryState query={visibleQuery} what="workspace" loading={<LoadingLines count={6} height={28} />}>
        {() => (
          <>
            <TabLinks label="Workspace" tabs={listTabs(`${list}/${name}`)} />
            {workspace && <DestroyBanner organization={organization} workspace={workspace.data} />}
            <Outlet />
          </>
        )}
      </QueryState>
    </Page>
  );
};

import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, Outlet, useMatches, useParams } from '@tanstack/react-router';
import { usePermission } from '../../api/organizations.js';
import { teamQuery } from '../../api/teams.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TabLinks } from '../../components/tab-links.js';

/** The screens of a team, in the order of the tabs. */
const TABS = [
  { label: 'Members', path: '' },
  { label: 'Access', path: 'access' },
  { label: 'Tokens', path: 'tokens' },
  { label: 'Notifications', path: 'notifications' },
  { label: 'Settings', path: 'settings' },
] as const;

/** Returns the name of the screen below the team; undefined for the first one, which has the name of the team. */
const useScreenName = (): string | undefined => {
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' });
  const path = (route.split('$team')[1] ?? '').replaceAll('/', '');
  return path === '' ? undefined : (TABS.find((tab) => tab.path === path)?.label ?? 'Not found');
};

/** The frame of all screens of a team: its name and its tabs. */
export const TeamScreen = () => {
  const { organization, team: id } = useParams({ from: '/$organization/teams/$team' });
  const query = useQuery(teamQuery(organization, id));
  // Other people may not read the notifications of teams.
  const canManageTeams = usePermission(organization, 'can-create-team');
  const screen = useScreenName();
  const list = `/${organization}/teams`;
  const tabs = TABS.filter(({ path }) => path !== 'notifications' || canManageTeams);
  return (
    <Page
      title={query.data?.attributes.name ?? 'Team'}
      screen={screen}
      badges={query.data?.attributes.visibility === 'secret' && <Badge color="gray">Secret</Badge>}
    >
      <QueryState query={query} what="team" loading={<LoadingLines count={6} height={28} />}>
        {(team) => {
          const owner = team.relationships.organization.data.id;
          if (owner !== organization)
            return <Navigate to="/$organization/teams/$team" params={{ organization: owner, team: id }} replace />;
          return (
            <>
              <TabLinks
                label="Team"
                tabs={tabs.map(({ label, path }) => ({
                  label,
                  to: path === '' ? `${list}/${id}` : `${list}/${id}/${path}`,
                }))}
              />
              <Outlet />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
};

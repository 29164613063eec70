import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useParams } from '@tanstack/react-router';
import { teamQuery, type Team } from '../../api/teams.js';
import { organizationQuery, usePermission } from '../../api/organizations.js';
import { Card, FactList } from '../../components/card.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { formatName } from '../../components/words.js';
import { listRights } from '../teams/organization-access.js';
import { TeamNotifications } from './team-notifications.js';
import { TeamMembers } from './team-members.js';

type TeamProps = { readonly organization: string; readonly team: Team };

const Details = ({ organization, team }: TeamProps) => {
  const { data } = useQuery(organizationQuery(organization));
  const isOwners = data?.relationships['owners-team'].data?.id === team.id;
  const rights = listRights(team).map(formatName);
  return (
    <Card title="Access">
      <FactList
        facts={[
          {
            label: 'Organization',
            value: isOwners ? 'Everything: this team owns the organization' : rights.join(', ') || 'Nothing',
          },
          {
            label: 'Projects, workspaces',
            value: (
              <TextLink to="/$organization/teams/access" params={{ organization }}>
                Access of all teams
              </TextLink>
            ),
          },
          {
            label: 'Explanation',
            value: (
              <TextLink to="/$organization/teams/why" params={{ organization }} search={{ team: team.id }}>
                Why can this team do something?
              </TextLink>
            ),
          },
        ]}
      />
    </Card>
  );
};

const Identity = ({ team: { id, attributes } }: TeamProps) => (
  <Card title="Team">
    <FactList
      facts={[
        { label: 'Visible to', value: attributes.visibility === 'secret' ? 'Its members and owners' : 'Every member' },
        { label: 'SSO team id', value: attributes['sso-team-id'] ?? 'None: no identity provider manages its members' },
        {
          label: 'Tokens',
          value: attributes['allow-member-token-management'] ? 'Members manage its tokens' : 'Owners manage its tokens',
        },
        { label: 'Id', value: <code>{id}</code> },
      ]}
    />
  </Card>
);

/** A team: what it may do, and who is in it. */
export const TeamScreen = () => {
  const { organization, team: id } = useParams({ from: '/$organization/teams/$team' });
  const query = useQuery(teamQuery(organization, id));
  const canManage = usePermission(organization, 'can-create-team');
  return (
    <Page
      title={query.data?.attributes.name ?? 'Team'}
      breadcrumbs={[{ label: organization }, { label: 'Teams', to: `/${organization}/teams` }]}
    >
      <QueryState query={query} what="team" loading={<LoadingLines count={6} height={28} />}>
        {(team) => {
          const owner = team.relationships.organization.data.id;
          if (owner !== organization)
            return <Navigate to="/$organization/teams/$team" params={{ organization: owner, team: id }} replace />;
          return (
            <>
              <SimpleGrid cols={{ base: 1, md: 2 }} mb="md">
                <Details organization={organization} team={team} />
                <Identity organization={organization} team={team} />
              </SimpleGrid>
              <TeamMembers organization={organization} team={team} />
              {canManage && <TeamNotifications organization={organization} team={team.id} />}
            </>
          );
        }}
      </QueryState>
    </Page>
  );
};

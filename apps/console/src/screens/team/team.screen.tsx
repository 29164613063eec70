import { Anchor, Badge, Button, Group, SimpleGrid, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { teamMembersQuery, teamQuery, type Team } from '../../api/teams.js';
import { organizationQuery } from '../../api/organizations.js';
import { Card, FactList } from '../../components/card.js';
import { Page } from '../../components/page.js';
import { ErrorState, LoadingLines, QueryState } from '../../components/states.js';
import { formatRight, listRights } from '../teams/organization-access.js';

type TeamProps = { readonly organization: string; readonly team: Team };

const Details = ({ organization, team }: TeamProps) => {
  const { data } = useQuery(organizationQuery(organization));
  const isOwners = data?.relationships['owners-team'].data?.id === team.id;
  const rights = listRights(team).map(formatRight);
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
              <Anchor size="sm" renderRoot={(props) => <Link {...props} to={`/${organization}/teams/access`} />}>
                Access of all teams
              </Anchor>
            ),
          },
          {
            label: 'Explanation',
            value: (
              <Anchor
                size="sm"
                renderRoot={(props) => (
                  <Link {...props} to="/$organization/teams/why" params={{ organization }} search={{ team: team.id }} />
                )}
              >
                Why can this team do something?
              </Anchor>
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

const Members = ({ organization, team }: TeamProps) => {
  const query = useInfiniteQuery(teamMembersQuery(organization, team.id));
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={4} height={32} />;
  const members = query.data.pages.flatMap(({ rows }) => rows);
  if (members.length === 0) {
    return <Text size="sm">The team has no members yet. Owners add people with the API or the provider tfe.</Text>;
  }
  return (
    <>
      <Table aria-label="Members" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Explanation</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map(({ id, name, email, isInvited, user }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Group gap="xs">
                  {name}
                  {isInvited && (
                    <Badge variant="light" color="yellow" tt="none" radius="sm">
                      Invited
                    </Badge>
                  )}
                </Group>
                <Text size="sm" c="dimmed">
                  {email}
                </Text>
              </Table.Td>
              <Table.Td>
                {!isInvited && (
                  <Anchor
                    size="sm"
                    aria-label={`What may ${name} do?`}
                    renderRoot={(props) => (
                      <Link {...props} to="/$organization/teams/why" params={{ organization }} search={{ user }} />
                    )}
                  >
                    What may they do?
                  </Anchor>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      )}
    </>
  );
};

/** A team: what it may do, and who is in it. */
export const TeamScreen = () => {
  const { organization, team: id } = useParams({ from: '/$organization/teams/$team' });
  const query = useQuery(teamQuery(organization, id));
  return (
    <Page
      title={query.data?.attributes.name ?? 'Team'}
      breadcrumbs={[{ label: organization }, { label: 'Teams', to: `/${organization}/teams` }]}
    >
      <QueryState query={query} what="team" loading={<LoadingLines count={6} height={28} />}>
        {(team) => (
          <>
            <SimpleGrid cols={{ base: 1, md: 2 }} mb="md">
              <Details organization={organization} team={team} />
              <Identity organization={organization} team={team} />
            </SimpleGrid>
            <Card title={`Members (${team.attributes['users-count'].toLocaleString()})`}>
              <Members organization={organization} team={team} />
            </Card>
          </>
        )}
      </QueryState>
    </Page>
  );
};

import { Badge, Group, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import {} from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { ApiError } from '../../api/api-error.js';
import { organizationQuery } from '../../api/organizations.js';
import { teamsQuery, type Team } from '../../api/teams.js';
import { PlusIcon, TeamIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { Page } from '../../components/page.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, ErrorState, LoadingLines, NotFoundState } from '../../components/states.js';
import { formatRight, listRights } from './organization-access.js';
import { TeamTabs } from './team-tabs.js';
import classes from '../../components/table-frame.module.css';

const CreateTeamDialog = lazyComponent(() => import('./create-team-dialog.js'), 'CreateTeamDialog');

const NO_CREATION = 'You need a team that may manage teams, or to be an owner of the organization.';
const SHOWN_RIGHTS = 3;

const Rights = ({ rights }: { readonly rights: readonly string[] }) => {
  if (rights.length === 0) return <Text size="sm">–</Text>;
  return (
    <Group gap={4}>
      {rights.slice(0, SHOWN_RIGHTS).map((right) => (
        <Badge key={right} variant="default" fw={500}>
          {formatRight(right)}
        </Badge>
      ))}
      {rights.length > SHOWN_RIGHTS && (
        <Text size="xs" c="dimmed" title={rights.map(formatRight).join(', ')}>
          +{rights.length - SHOWN_RIGHTS}
        </Text>
      )}
    </Group>
  );
};

type TeamRowProps = { readonly organization: string; readonly team: Team; readonly isOwners: boolean };

const TeamRow = ({ organization, team, isOwners }: TeamRowProps) => (
  <Table.Tr>
    <Table.Td>
      <Link to="/$organization/teams/$team" params={{ organization, team: team.id }} className={classes['name']}>
        {team.attributes.name}
      </Link>
    </Table.Td>
    <Table.Td ta="right">{team.attributes['users-count'].toLocaleString()}</Table.Td>
    <Table.Td className={classes['wide']}>
      {isOwners ? <Text size="sm">Everything</Text> : <Rights rights={listRights(team)} />}
    </Table.Td>
    <Table.Td className={classes['wide']} style={{ whiteSpace: 'nowrap' }}>
      {team.attributes.visibility === 'secret' ? 'Secret' : 'Everybody'}
    </Table.Td>
    <Table.Td className={classes['wide']}>{team.attributes['sso-team-id'] ?? '–'}</Table.Td>
  </Table.Tr>
);

type TeamTableProps = { readonly organization: string; readonly teams: readonly Team[] };

const TeamTable = ({ organization, teams }: TeamTableProps) => {
  const { data } = useQuery(organizationQuery(organization));
  const owners = data?.relationships['owners-team'].data?.id;
  return (
    <div className={classes['frame']}>
      <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover aria-label="Teams">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th ta="right">Members</Table.Th>
            <Table.Th className={classes['wide']}>In the whole organization</Table.Th>
            <Table.Th className={classes['wide']}>Visible to</Table.Th>
            <Table.Th className={classes['wide']}>SSO team id</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {teams.map((team) => (
            <TeamRow key={team.id} organization={organization} team={team} isOwners={team.id === owners} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
};

const Teams = ({ organization }: { readonly organization: string }) => {
  const query = useInfiniteQuery(teamsQuery(organization));
  if (query.error instanceof ApiError && query.error.isNotFound) return <NotFoundState what="organization" />;
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={5} height={40} />;
  const teams = query.data.pages.flatMap(({ data }) => data);
  if (teams.length === 0) {
    return (
      <EmptyState icon={TeamIcon} title="There is no team that you may see">
        <Text>Secret teams are visible to their members. Ask an owner of the organization to add you to a team.</Text>
      </EmptyState>
    );
  }
  return (
    <>
      <TeamTable organization={organization} teams={teams} />
      <LoadMore mt="md" query={query} />
    </>
  );
};

/** The teams of an organization. */
export const TeamsScreen = () => {
  const { organization } = useParams({ from: '/$organization/teams' });
  const [isCreating, dialog] = useDisclosure(false);
  const { data } = useQuery(organizationQuery(organization));
  return (
    <Page
      title="Teams"
      breadcrumbs={[{ label: organization }]}
      actions={
        data && (
          <PermittedButton
            command="New team"
            isPermitted={data.attributes.permissions['can-create-team']}
            reason={NO_CREATION}
            leftSection={<PlusIcon size={16} />}
            onClick={dialog.open}
          >
            New team
          </PermittedButton>
        )
      }
    >
      <TeamTabs organization={organization} />
      <Teams organization={organization} />
      {isCreating && <CreateTeamDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};

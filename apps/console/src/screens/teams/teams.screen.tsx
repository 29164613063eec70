import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { organizationQuery, usePermission } from '../../api/organizations.js';
import { teamsQuery, type Team } from '../../api/teams.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { TeamIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { formatName } from '../../components/words.js';
import { listRights } from './organization-access.js';
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
          {formatName(right)}
        </Badge>
      ))}
      {rights.length > SHOWN_RIGHTS && (
        <Text size="xs" c="dimmed" title={rights.map(formatName).join(', ')}>
          +{rights.length - SHOWN_RIGHTS}
        </Text>
      )}
    </Group>
  );
};

const TeamName = ({
  organization,
  team: { id, attributes },
}: {
  readonly organization: string;
  readonly team: Team;
}) => (
  <Link to="/$organization/teams/$team" params={{ organization, team: id }} className={classes['name']}>
    {attributes.name}
  </Link>
);

type TeamTableProps = { readonly organization: string; readonly teams: readonly Team[] };

const TeamTable = ({ organization, teams }: TeamTableProps) => {
  const { data } = useQuery(organizationQuery(organization));
  const owners = data?.relationships['owners-team'].data?.id;
  const columns: readonly DataColumn<Team>[] = [
    { header: 'Name', cell: (team) => <TeamName organization={organization} team={team} /> },
    { header: 'Members', align: 'right', cell: ({ attributes }) => attributes['users-count'].toLocaleString() },
    {
      header: 'In the whole organization',
      isWide: true,
      cell: (team) => (team.id === owners ? <Text size="sm">Everything</Text> : <Rights rights={listRights(team)} />),
    },
    {
      header: 'Visible to',
      isWide: true,
      cell: ({ attributes }) => (
        <span style={{ whiteSpace: 'nowrap' }}>{attributes.visibility === 'secret' ? 'Secret' : 'Everybody'}</span>
      ),
    },
    { header: 'SSO team id', isWide: true, cell: ({ attributes }) => attributes['sso-team-id'] ?? '–' },
  ];
  return <DataTable label="Teams" rows={teams} columns={columns} isLinked />;
};

const NoTeam = () => (
  <EmptyState icon={TeamIcon} title="There is no team that you may see">
    <Text>Secret teams are visible to their members. Ask an owner of the organization to add you to a team.</Text>
  </EmptyState>
);

/** The teams of an organization. */
export const TeamsScreen = () => {
  const { organization } = useParams({ from: '/$organization/teams' });
  const [isCreating, dialog] = useDisclosure(false);
  const query = useInfiniteQuery(teamsQuery(organization));
  return (
    <Page
      title="Teams"
      actions={
        <CreateButton
          label="New team"
          isPermitted={usePermission(organization, 'can-create-team')}
          reason={NO_CREATION}
          onClick={dialog.open}
        />
      }
    >
      <TeamTabs organization={organization} />
      <PagedList query={query} what="organization" empty={<NoTeam />}>
        {(teams) => <TeamTable organization={organization} teams={teams} />}
      </PagedList>
      {isCreating && <CreateTeamDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};

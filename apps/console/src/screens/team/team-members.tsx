import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listRows } from '../../api/pages.js';
import { teamMembersQuery, type Team, type TeamMemberRow } from '../../api/teams.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { PermittedRowButton } from '../../components/row-button.js';
import { TextLink } from '../../components/text-link.js';

const AddMembersDialog = lazyComponent(() => import('./member-dialogs.js'), 'AddMembersDialog');
const RemoveFromTeamDialog = lazyComponent(() => import('./member-dialogs.js'), 'RemoveFromTeamDialog');

type TeamProps = { readonly organization: string; readonly team: Team };

const NO_CHANGE = 'You need a team that may manage membership, or to be an owner of the organization.';

type MemberTableProps = TeamProps & {
  readonly members: readonly TeamMemberRow[];
  readonly onRemove: (member: TeamMemberRow) => void;
};

const MemberTable = ({ organization, team, members, onRemove }: MemberTableProps) => {
  const columns: readonly DataColumn<TeamMemberRow>[] = [
    {
      header: 'Name',
      cell: ({ name, email, isInvited }) => (
        <>
          <Group gap="xs">
            {name}
            {isInvited && <Badge color="yellow">Invited</Badge>}
          </Group>
          <Text size="sm" c="dimmed">
            {email}
          </Text>
        </>
      ),
    },
    {
      header: 'Actions',
      align: 'right',
      cell: (member) => (
        <Group gap="sm" justify="flex-end">
          {!member.isInvited && (
            <TextLink
              aria-label={`What may ${member.name} do?`}
              to="/$organization/teams/why"
              params={{ organization }}
              search={{ user: member.user }}
            >
              Explain access
            </TextLink>
          )}
          <PermittedRowButton
            action="Remove"
            name={member.name}
            isDangerous
            isPermitted={team.attributes.permissions['can-update-membership']}
            reason={NO_CHANGE}
            onClick={() => onRemove(member)}
          />
        </Group>
      ),
    },
  ];
  return <DataTable label="Members" rows={members} columns={columns} isInCard />;
};

/** Who is in a team. */
export const TeamMembers = ({ organization, team }: TeamProps) => {
  const query = useInfiniteQuery(teamMembersQuery(organization, team.id));
  const [isAdding, dialog] = useDisclosure(false);
  const [removed, setRemoved] = useState<TeamMemberRow | null>(null);
  const present = new Set(listRows(query.data).map(({ id }) => id));
  const common = { organization, team };
  return (
    <Card
      title={`Members (${team.attributes['users-count'].toLocaleString()})`}
      actions={
        <CreateButton
          label="Add people"
          size="xs"
          variant="default"
          isPermitted={team.attributes.permissions['can-update-membership']}
          reason={NO_CHANGE}
          onClick={dialog.open}
        />
      }
    >
      <PagedList query={query} what="team" empty={<Text size="sm">The team has no members yet.</Text>}>
        {(members) => <MemberTable {...common} members={members} onRemove={setRemoved} />}
      </PagedList>
      {isAdding && <AddMembersDialog {...common} present={present} onClose={dialog.close} />}
      {removed && <RemoveFromTeamDialog {...common} member={removed} onClose={() => setRemoved(null)} />}
    </Card>
  );
};

import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { useState } from 'react';
import { listRows } from '../../api/pages.js';
import { teamMembersQuery, type TeamMemberRow } from '../../api/teams.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import type { RowAction } from '../../components/row-action.js';
import { useShownTeam, type TeamProps } from './shown-team.js';

const AddMembersDialog = lazyComponent(() => import('./member-dialogs.js'), 'AddMembersDialog');
const RemoveFromTeamDialog = lazyComponent(() => import('./member-dialogs.js'), 'RemoveFromTeamDialog');

const NO_CHANGE = 'You need a team that may manage membership, or to be an owner of the organization.';

type MemberTableProps = TeamProps & {
  readonly members: readonly TeamMemberRow[];
  readonly onRemove: (member: TeamMemberRow) => void;
};

const COLUMNS: readonly DataColumn<TeamMemberRow>[] = [
  {
    header: 'Name',
    cell: ({ name, isInvited }) => (
      <Group gap="xs">
        {name}
        {isInvited && <Badge color="yellow">Invited</Badge>}
      </Group>
    ),
  },
  { header: 'E-mail address', cell: ({ email }) => email },
];

const MemberTable = ({ organization, team, members, onRemove }: MemberTableProps) => {
  const refusal = team.attributes.permissions['can-update-membership'] ? undefined : NO_CHANGE;
  const listActions = (member: TeamMemberRow): RowAction[] => [
    ...(member.isInvited
      ? []
      : [
          {
            action: 'Explain access',
            label: `Explain access of ${member.name}`,
            link: linkOptions({
              to: '/$organization/teams/why',
              params: { organization },
              search: { user: member.user },
            }),
          },
        ]),
    { action: 'Remove', isDangerous: true, refusal, onClick: () => onRemove(member) },
  ];
  return (
    <DataTable
      label="Members"
      rows={members}
      columns={COLUMNS}
      actions={(member) => ({ name: member.name, actions: listActions(member) })}
      isInCard
    />
  );
};

const TeamMembers = ({ organization, team }: TeamProps) => {
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

/** The members of a team. */
export const TeamMembersScreen = () => {
  const team = useShownTeam();
  return team && <TeamMembers {...team} />;
};

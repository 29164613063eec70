import { Anchor, Badge, Group, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { teamMembersQuery, type Team, type TeamMemberRow } from '../../api/teams.js';
import { Card } from '../../components/card.js';
import { PlusIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { ErrorState, LoadingLines } from '../../components/states.js';

const AddMembersDialog = lazyComponent(() => import('./member-dialogs.js'), 'AddMembersDialog');
const RemoveFromTeamDialog = lazyComponent(() => import('./member-dialogs.js'), 'RemoveFromTeamDialog');

type TeamProps = { readonly organization: string; readonly team: Team };

const NO_CHANGE = 'You need a team that may manage membership, or to be an owner of the organization.';

type RowProps = { readonly organization: string; readonly member: TeamMemberRow; readonly removeButton: ReactNode };

const MemberRow = ({ organization, member: { name, email, isInvited, user }, removeButton }: RowProps) => (
  <Table.Tr>
    <Table.Td>
      <Group gap="xs">
        {name}
        {isInvited && <Badge color="yellow">Invited</Badge>}
      </Group>
      <Text size="sm" c="dimmed">
        {email}
      </Text>
    </Table.Td>
    <Table.Td>
      <Group gap="sm" justify="flex-end">
        {!isInvited && (
          <Anchor
            size="sm"
            aria-label={`What may ${name} do?`}
            renderRoot={(props) => (
              <Link {...props} to="/$organization/teams/why" params={{ organization }} search={{ user }} />
            )}
          >
            Explain access
          </Anchor>
        )}
        {removeButton}
      </Group>
    </Table.Td>
  </Table.Tr>
);

type MemberTableProps = TeamProps & {
  readonly members: readonly TeamMemberRow[];
  readonly onRemove: (member: TeamMemberRow) => void;
};

const MemberTable = ({ organization, team, members, onRemove }: MemberTableProps) => (
  <Table aria-label="Members" verticalSpacing="xs">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Name</Table.Th>
        <Table.Th ta="right">Actions</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {members.map((member) => (
        <MemberRow
          key={member.id}
          organization={organization}
          member={member}
          removeButton={
            <PermittedButton
              size="compact-sm"
              variant="subtle"
              color="red"
              aria-label={`Remove ${member.name}`}
              isPermitted={team.attributes.permissions['can-update-membership']}
              reason={NO_CHANGE}
              onClick={() => onRemove(member)}
            >
              Remove
            </PermittedButton>
          }
        />
      ))}
    </Table.Tbody>
  </Table>
);

const useMembers = (organization: string, team: string) => useInfiniteQuery(teamMembersQuery(organization, team));

const MemberList = ({ organization, team, query }: TeamProps & { readonly query: ReturnType<typeof useMembers> }) => {
  const [removed, setRemoved] = useState<TeamMemberRow | null>(null);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={4} height={32} />;
  const members = query.data.pages.flatMap(({ data }) => data);
  if (members.length === 0) return <Text size="sm">The team has no members yet.</Text>;
  return (
    <>
      <MemberTable organization={organization} team={team} members={members} onRemove={setRemoved} />
      <LoadMore query={query} />
      {removed && (
        <RemoveFromTeamDialog
          organization={organization}
          team={team}
          member={removed}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
};

/** Who is in a team. */
export const TeamMembers = ({ organization, team }: TeamProps) => {
  const query = useMembers(organization, team.id);
  const [isAdding, dialog] = useDisclosure(false);
  const present = new Set(query.data?.pages.flatMap(({ data }) => data.map(({ id }) => id)));
  return (
    <Card
      title={`Members (${team.attributes['users-count'].toLocaleString()})`}
      actions={
        <PermittedButton
          command="Add people"
          size="xs"
          variant="default"
          leftSection={<PlusIcon size={14} />}
          isPermitted={team.attributes.permissions['can-update-membership']}
          reason={NO_CHANGE}
          onClick={dialog.open}
        >
          Add people
        </PermittedButton>
      }
    >
      <MemberList organization={organization} team={team} query={query} />
      {isAdding && (
        <AddMembersDialog organization={organization} team={team} present={present} onClose={dialog.close} />
      )}
    </Card>
  );
};

import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { linkOptions, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { membersQuery, type ListedMember } from '../../api/memberships.js';
import { usePermission } from '../../api/organizations.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { FilterBar } from '../../components/filter-bar.js';
import { UserIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import type { RowAction } from '../../components/row-action.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { PeopleTabs } from './people-tabs.js';
import { parseMemberSearch } from './people.search.js';

const InviteDialog = lazyComponent(() => import('./invite-dialog.js'), 'InviteDialog');
const RemoveMemberDialog = lazyComponent(() => import('./invite-dialog.js'), 'RemoveMemberDialog');

const NO_INVITATION = 'You need a team that may manage membership, or to be an owner of the organization.';

const LastActive = ({ member }: { readonly member: ListedMember }) => {
  if (member.lastActive) return <Time value={member.lastActive} />;
  return member.isInvited ? '–' : 'Never';
};

type MemberTableProps = {
  readonly organization: string;
  readonly members: readonly ListedMember[];
  readonly canManage: boolean;
  readonly onRemove: (member: ListedMember) => void;
};

const MemberName = ({ member: { name, email, isInvited, teams } }: { readonly member: ListedMember }) => (
  <>
    <Group gap="xs">
      <Text size="sm" fw={500}>
        {name}
      </Text>
      {isInvited && <Badge color="yellow">Invited</Badge>}
    </Group>
    <NarrowLine>{email}</NarrowLine>
    {teams.length > 0 && <NarrowLine>Teams: {teams.join(', ')}</NarrowLine>}
  </>
);

const listActions = ({ organization, canManage, onRemove }: MemberTableProps, member: ListedMember): RowAction[] => [
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
  ...(canManage ? [{ action: 'Remove', isDangerous: true, onClick: () => onRemove(member) }] : []),
];

const MemberTable = (props: MemberTableProps) => {
  const activity: DataColumn<ListedMember> = {
    header: 'Last active',
    isWide: true,
    cell: (member) => <LastActive member={member} />,
  };
  const columns: readonly DataColumn<ListedMember>[] = [
    { header: 'Name', cell: (member) => <MemberName member={member} /> },
    { header: 'E-mail address', isWide: true, cell: ({ email }) => email || '–' },
    { header: 'Teams', isWide: true, cell: ({ teams }) => teams.join(', ') || '–' },
    { header: 'Since', isWide: true, cell: ({ since }) => <Time value={since} /> },
    ...(props.members.some(({ lastActive }) => lastActive !== undefined) ? [activity] : []),
  ];
  return (
    <DataTable
      label="Members"
      rows={props.members}
      columns={columns}
      actions={(member) => ({ name: member.name, actions: listActions(props, member) })}
    />
  );
};

const Members = ({ organization, canManage }: Pick<MemberTableProps, 'organization' | 'canManage'>) => {
  const search = useSearch({ from: '/$organization/people' });
  const [removed, setRemoved] = useState<ListedMember | null>(null);
  const query = useInfiniteQuery(membersQuery(organization, search));
  const empty = (
    <EmptyState icon={UserIcon} title={search.status === 'invited' ? 'No invitation is open' : 'Nobody matches'}>
      <Text>The server sends no mail. People see an invitation when they sign in.</Text>
    </EmptyState>
  );
  return (
    <>
      <PagedList query={query} what="organization" empty={empty}>
        {(members) => (
          <MemberTable organization={organization} members={members} canManage={canManage} onRemove={setRemoved} />
        )}
      </PagedList>
      {removed && <RemoveMemberDialog organization={organization} member={removed} onClose={() => setRemoved(null)} />}
    </>
  );
};

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'active', label: 'Members' },
  { value: 'invited', label: 'Invitations' },
];

const Toolbar = () => {
  const search = useSearch({ from: '/$organization/people' });
  const navigate = useNavigate({ from: '/$organization/people' });
  const change = (changes: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (before) => parseMemberSearch({ ...before, ...changes }), replace: true });
  return (
    <FilterBar
      label="Search people by name or address"
      placeholder="Search by name or address"
      text={search.name ?? ''}
      onText={(name) => change({ name })}
      statuses={STATUSES}
      status={search.status ?? ''}
      onStatus={(status) => change({ status })}
    />
  );
};

/** The members of an organization, and its invitations. */
export const PeopleScreen = () => {
  const { organization } = useParams({ from: '/$organization/people' });
  const [isInviting, dialog] = useDisclosure(false);
  const canManage = usePermission(organization, 'can-manage-users');
  return (
    <Page
      title="People"
      actions={
        <CreateButton
          label="Invite"
          command="Invite people"
          isPermitted={canManage}
          reason={NO_INVITATION}
          onClick={dialog.open}
        />
      }
    >
      <PeopleTabs organization={organization} />
      <Toolbar />
      <Members organization={organization} canManage={canManage ?? false} />
      {isInviting && <InviteDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};

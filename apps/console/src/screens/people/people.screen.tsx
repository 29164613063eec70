import { Anchor, Badge, Button, Group, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { ApiError } from '../../api/api-error.js';
import { membersQuery, type ListedMember } from '../../api/memberships.js';
import { organizationQuery } from '../../api/organizations.js';
import { FilterBar } from '../../components/filter-bar.js';
import { PlusIcon, UserIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { Page } from '../../components/page.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, ErrorState, LoadingLines, NotFoundState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { PeopleTabs } from './people-tabs.js';
import { parseMemberSearch } from './people.search.js';
import classes from '../../components/table-frame.module.css';

const InviteDialog = lazyComponent(() => import('./invite-dialog.js'), 'InviteDialog');
const RemoveMemberDialog = lazyComponent(() => import('./invite-dialog.js'), 'RemoveMemberDialog');

const NO_INVITATION = 'You need a team that may manage membership, or to be an owner of the organization.';

const LastActive = ({ member }: { readonly member: ListedMember }) => {
  if (member.lastActive) return <Time value={member.lastActive} />;
  return member.isInvited ? '–' : 'Never';
};

type RowProps = {
  readonly organization: string;
  readonly member: ListedMember;
  readonly canManage: boolean;
  readonly showsActivity: boolean;
  readonly onRemove: () => void;
};

const MemberTableRow = ({ organization, member, canManage, showsActivity, onRemove }: RowProps) => (
  <Table.Tr>
    <Table.Td>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {member.name}
        </Text>
        {member.isInvited && <Badge color="yellow">Invited</Badge>}
      </Group>
      {member.email && <div className={classes['narrow']}>{member.email}</div>}
      {member.teams.length > 0 && <div className={classes['narrow']}>Teams: {member.teams.join(', ')}</div>}
    </Table.Td>
    <Table.Td className={classes['wide']}>{member.email || '–'}</Table.Td>
    <Table.Td className={classes['wide']}>{member.teams.join(', ') || '–'}</Table.Td>
    <Table.Td className={classes['wide']}>
      <Time value={member.since} />
    </Table.Td>
    {showsActivity && (
      <Table.Td className={classes['wide']}>
        <LastActive member={member} />
      </Table.Td>
    )}
    <Table.Td>
      <Group gap="sm" wrap="nowrap">
        {!member.isInvited && (
          <Anchor
            size="sm"
            className={classes['wide']}
            aria-label={`Explain the access of ${member.name}`}
            renderRoot={(props) => (
              <Link {...props} to="/$organization/teams/why" params={{ organization }} search={{ user: member.user }} />
            )}
          >
            Explain access
          </Anchor>
        )}
        {canManage && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            aria-label={`Remove ${member.name}`}
            onClick={onRemove}
          >
            Remove
          </Button>
        )}
      </Group>
    </Table.Td>
  </Table.Tr>
);

type MembersProps = { readonly organization: string; readonly canManage: boolean };

const Members = ({ organization, canManage }: MembersProps) => {
  const search = useSearch({ from: '/$organization/people' });
  const [removed, setRemoved] = useState<ListedMember | null>(null);
  const query = useInfiniteQuery(membersQuery(organization, search));
  if (query.error instanceof ApiError && query.error.isNotFound) return <NotFoundState what="organization" />;
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={5} height={40} />;
  const members = query.data.pages.flatMap(({ data }) => data);
  const showsActivity = members.some(({ lastActive }) => lastActive !== undefined);
  if (members.length === 0) {
    return (
      <EmptyState icon={UserIcon} title={search.status === 'invited' ? 'No invitation is open' : 'Nobody matches'}>
        <Text>The server sends no mail. People see an invitation when they sign in.</Text>
      </EmptyState>
    );
  }
  return (
    <>
      <div className={classes['frame']}>
        <Table verticalSpacing="sm" horizontalSpacing="md" aria-label="Members">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th className={classes['wide']}>E-mail address</Table.Th>
              <Table.Th className={classes['wide']}>Teams</Table.Th>
              <Table.Th className={classes['wide']}>Since</Table.Th>
              {showsActivity && <Table.Th className={classes['wide']}>Last active</Table.Th>}
              <Table.Th>Actions</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map((member) => (
              <MemberTableRow
                key={member.id}
                organization={organization}
                member={member}
                canManage={canManage}
                showsActivity={showsActivity}
                onRemove={() => setRemoved(member)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <LoadMore mt="md" query={query} />
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
  const { data } = useQuery(organizationQuery(organization));
  const canManage = data?.attributes.permissions['can-manage-users'] ?? false;
  return (
    <Page
      title="People"
      breadcrumbs={[{ label: organization }]}
      actions={
        data && (
          <PermittedButton
            command="Invite people"
            isPermitted={canManage}
            reason={NO_INVITATION}
            leftSection={<PlusIcon size={16} />}
            onClick={dialog.open}
          >
            Invite
          </PermittedButton>
        )
      }
    >
      <PeopleTabs organization={organization} />
      <Toolbar />
      <Members organization={organization} canManage={canManage} />
      {isInviting && <InviteDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};

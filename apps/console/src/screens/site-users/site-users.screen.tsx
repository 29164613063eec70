import { Badge, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { siteUsersQuery, useChangeSiteUser, type SiteUser } from '../../api/site-users.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { FilterBar } from '../../components/filter-bar.js';
import { UserIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import type { RowAction } from '../../components/row-action.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { showToast } from '../../toasts.js';
import { SitePage } from '../site/site-page.js';
import { parseSiteUserSearch } from './site-users.search.js';
import { listUserActions, USER_ACTIONS, type OpenUserAction } from './user-actions.js';

const UserDialog = lazyComponent(() => import('./user-dialog.js'), 'UserDialog');

const UserName = ({ user: { attributes } }: { readonly user: SiteUser }) => (
  <>
    <Group gap="xs">
      <Text size="sm" fw={500} span>
        {attributes.username}
      </Text>
      {attributes['is-admin'] && <Badge>Site administrator</Badge>}
      {attributes['is-suspended'] && <Badge color="red">Suspended</Badge>}
    </Group>
    <NarrowLine>{attributes.email}</NarrowLine>
  </>
);

const listNames = ({ relationships }: SiteUser): string =>
  relationships.organizations.data.map(({ id }) => id).join(', ');

const COLUMNS: readonly DataColumn<SiteUser>[] = [
  { header: 'User', cell: (user) => <UserName user={user} /> },
  { header: 'E-mail address', isWide: true, cell: ({ attributes }) => attributes.email ?? '–' },
  { header: 'Organizations', cell: (user) => listNames(user) || 'None' },
  { header: 'Second factor', cell: ({ attributes }) => (attributes['two-factor'].enabled ? 'Set up' : 'None') },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

type UserTableProps = { readonly users: readonly SiteUser[]; readonly onOpen: (opened: OpenUserAction) => void };

const UserTable = ({ users, onOpen }: UserTableProps) => {
  const change = useChangeSiteUser();
  const unsuspend = ({ id, attributes: { username } }: SiteUser): RowAction => ({
    action: 'End the suspension',
    label: `End the suspension of ${username}`,
    onClick: () =>
      change.mutate(
        { id, action: 'unsuspend' },
        { onSuccess: () => void showToast({ kind: 'success', message: `${username} can sign in again.` }) },
      ),
  });
  const listActions = (user: SiteUser): readonly RowAction[] => [
    ...(user.attributes['is-suspended'] ? [unsuspend(user)] : []),
    ...listUserActions(user).map((action) => {
      const { action: label, title, isDangerous = false } = USER_ACTIONS[action];
      const name = title(user.attributes.username);
      return {
        action: label,
        isDangerous,
        ...(name.startsWith(label) ? { label: name } : {}),
        onClick: () => onOpen({ action, user }),
      };
    }),
  ];
  return (
    <>
      <FormProblems error={change.error} />
      <DataTable
        label="Users"
        rows={users}
        columns={COLUMNS}
        actions={(user) => ({ name: user.attributes.username, actions: listActions(user) })}
      />
    </>
  );
};

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'administrators', label: 'Administrators' },
  { value: 'suspended', label: 'Suspended' },
];

const FROM = '/~site/users';

const Toolbar = () => {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const change = (changes: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (before) => parseSiteUserSearch({ ...before, ...changes }), replace: true });
  return (
    <FilterBar
      label="Search users by name or address"
      placeholder="Search by name or address"
      text={search.name ?? ''}
      onText={(name) => change({ name })}
      statuses={STATUSES}
      status={search.status ?? ''}
      onStatus={(status) => change({ status })}
    />
  );
};

/** The users of the site, for its administrators. */
export const SiteUsersScreen = () => {
  const query = useInfiniteQuery(siteUsersQuery(useSearch({ from: FROM })));
  const [opened, setOpened] = useState<OpenUserAction | null>(null);
  const empty = (
    <EmptyState icon={UserIcon} title="Nobody matches">
      <Text>Search for another text, or show all users.</Text>
    </EmptyState>
  );
  return (
    <SitePage title="Users" description="Everybody with an account at this site." error={query.error}>
      <Toolbar />
      <PagedList query={query} what="list" empty={empty}>
        {(users) => <UserTable users={users} onOpen={setOpened} />}
      </PagedList>
      {opened && <UserDialog {...opened} onClose={() => setOpened(null)} />}
    </SitePage>
  );
};

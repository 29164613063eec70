import { Anchor, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { isDenied } from '../../api/api-error.js';
import { authorizeConnection, connectionsQuery, nameConnection, type Connection } from '../../api/connections.js';
import { usePermission } from '../../api/organizations.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RegistryIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';

const ConnectDialog = lazyComponent(() => import('./connect-dialog.js'), 'ConnectDialog');
const loadDialogs = () => import('./connection-dialogs.js');
const ChangeConnectionDialog = lazyComponent(loadDialogs, 'ChangeConnectionDialog');
const DeleteConnectionDialog = lazyComponent(loadDialogs, 'DeleteConnectionDialog');

const NO_CHANGE = 'You need a team that may manage VCS settings, or to be an owner of the organization.';

type OpenDialog =
  { readonly kind: 'connect' } | { readonly kind: 'change' | 'delete'; readonly connection: Connection } | null;

const describeScope = ({ attributes, relationships }: Connection): string =>
  attributes['organization-scoped']
    ? 'All workspaces'
    : `Workspaces of ${formatCount(relationships.projects.data.length, 'project', 'projects')}`;

/** Says whether the token works, and what to do if it does not. */
const ConnectionToken = ({ attributes, relationships }: Connection) => {
  const isApplication = attributes['connect-path'] !== null;
  if (relationships['oauth-tokens'].data.length === 0) return isApplication ? 'None. Authorize the connection' : 'None';
  if (attributes['token-refused-at'] === null) return 'Stored';
  return (
    <Text size="sm" c="red">
      The host has refused it since <Time value={attributes['token-refused-at']} />.{' '}
      {isApplication ? 'Authorize the connection again.' : 'Change the connection, and enter another token.'}
    </Text>
  );
};

const COLUMNS: readonly DataColumn<Connection>[] = [
  { header: 'Name', cell: nameConnection },
  { header: 'Kind', cell: ({ attributes }) => attributes['service-provider-display-name'] },
  {
    header: 'Address',
    isWide: true,
    cell: ({ attributes }) => (
      <Anchor size="sm" href={attributes['http-url']} target="_blank" rel="noreferrer">
        {attributes['http-url']}
      </Anchor>
    ),
  },
  { header: 'Used by', cell: describeScope },
  {
    header: 'Token',
    cell: (connection) => <ConnectionToken {...connection} />,
  },
  { header: 'Connected', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

type TableProps = {
  readonly connections: readonly Connection[];
  /** Why the person may not change the connections, if so. */
  readonly refusal: string | undefined;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const ConnectionTable = ({ connections, refusal, onOpen }: TableProps) => (
  <DataTable
    label="Connections"
    rows={connections}
    columns={COLUMNS}
    actions={(connection) => ({
      name: nameConnection(connection),
      actions: [
        { action: 'Change', refusal, onClick: () => onOpen({ kind: 'change', connection }) },
        ...(connection.attributes['connect-path'] === null
          ? []
          : [{ action: 'Authorize', refusal, onClick: () => authorizeConnection(connection) }]),
        { action: 'Delete', isDangerous: true, refusal, onClick: () => onOpen({ kind: 'delete', connection }) },
      ],
    })}
  />
);

const NoAccess = () => (
  <EmptyState icon={RegistryIcon} title="You may not see the connections">
    <Text>You need a team that may manage workspaces or VCS settings, or to be an owner of the organization.</Text>
  </EmptyState>
);

const NoConnection = () => (
  <EmptyState icon={RegistryIcon} title="No Git host is connected yet">
    <Text>Workspaces can then follow a repository of the host, and each push to their branch starts a run.</Text>
  </EmptyState>
);

type DialogsProps = { readonly organization: string; readonly open: OpenDialog; readonly onClose: () => void };

const ConnectionDialogs = ({ open, ...common }: DialogsProps) => {
  if (open === null) return null;
  if (open.kind === 'connect') return <ConnectDialog {...common} />;
  const Dialog = open.kind === 'change' ? ChangeConnectionDialog : DeleteConnectionDialog;
  return <Dialog {...common} connection={open.connection} />;
};

/** The connections of an organization to Git hosts. */
export const VersionControlScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/version-control' });
  const [open, setOpen] = useState<OpenDialog>(null);
  const query = useInfiniteQuery(connectionsQuery(organization));
  const canChange = usePermission(organization, 'can-update-oauth');
  const isHidden = isDenied(query.error) && canChange !== undefined;
  return (
    <Page
      title="Version control"
      description="Connections to Git hosts. Workspaces read their repositories with them."
      actions={
        <CreateButton
          label="Connect a Git host"
          isPermitted={canChange}
          reason={NO_CHANGE}
          onClick={() => setOpen({ kind: 'connect' })}
        />
      }
    >
      {isHidden ? (
        <NoAccess />
      ) : (
        <PagedList query={query} what="organization" empty={<NoConnection />}>
          {(rows) => (
            <ConnectionTable
              connections={rows}
              refusal={canChange === false ? NO_CHANGE : undefined}
              onOpen={setOpen}
            />
          )}
        </PagedList>
      )}
      <ConnectionDialogs organization={organization} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
};

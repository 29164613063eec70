import { Code, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { isDenied } from '../../api/api-error.js';
import { usePermission } from '../../api/organizations.js';
import { sshKeysQuery, type SshKey } from '../../api/ssh-keys.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { KeyIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';

const loadDialogs = () => import('./ssh-key-dialogs.js');
const AddKeyDialog = lazyComponent(loadDialogs, 'AddKeyDialog');
const ChangeKeyDialog = lazyComponent(loadDialogs, 'ChangeKeyDialog');
const DeleteKeyDialog = lazyComponent(loadDialogs, 'DeleteKeyDialog');

const NO_CHANGE = 'You need a team that may manage VCS settings, or to be an owner of the organization.';

type OpenDialog = { readonly kind: 'add' } | { readonly kind: 'change' | 'delete'; readonly sshKey: SshKey } | null;

const COLUMNS: readonly DataColumn<SshKey>[] = [
  { header: 'Name', cell: ({ attributes }) => attributes.name },
  { header: 'Id', cell: ({ id }) => <Code>{id}</Code> },
];

type TableProps = {
  readonly keys: readonly SshKey[];
  /** Why the person may not change the keys, if so. */
  readonly refusal: string | undefined;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const KeyTable = ({ keys, refusal, onOpen }: TableProps) => (
  <DataTable
    label="SSH keys"
    rows={keys}
    columns={COLUMNS}
    actions={(sshKey) => ({
      name: sshKey.attributes.name,
      actions: [
        { action: 'Change', refusal, onClick: () => onOpen({ kind: 'change', sshKey }) },
        { action: 'Delete', isDangerous: true, refusal, onClick: () => onOpen({ kind: 'delete', sshKey }) },
      ],
    })}
  />
);

const NoAccess = () => (
  <EmptyState icon={KeyIcon} title="You may not see the SSH keys">
    <Text>You need a team that may manage workspaces or VCS settings, or to be an owner of the organization.</Text>
  </EmptyState>
);

const NoKey = () => (
  <EmptyState icon={KeyIcon} title="There is no SSH key yet">
    <Text>
      A workspace can name a key with which its runs download modules from Git repositories. Only the executor of a run
      gets the key.
    </Text>
  </EmptyState>
);

type DialogsProps = { readonly organization: string; readonly open: OpenDialog; readonly onClose: () => void };

const KeyDialogs = ({ open, ...common }: DialogsProps) => {
  if (open === null) return null;
  if (open.kind === 'add') return <AddKeyDialog {...common} />;
  const Dialog = open.kind === 'change' ? ChangeKeyDialog : DeleteKeyDialog;
  return <Dialog {...common} sshKey={open.sshKey} />;
};

/** The private keys of an organization, without their texts. */
export const SshKeysScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/ssh-keys' });
  const [open, setOpen] = useState<OpenDialog>(null);
  const query = useInfiniteQuery(sshKeysQuery(organization));
  const canChange = usePermission(organization, 'can-update-ssh-keys');
  const isHidden = isDenied(query.error) && canChange !== undefined;
  return (
    <Page
      title="SSH keys"
      description="Private keys for modules in Git repositories. The server stores them encrypted, and nobody can read them again."
      actions={
        <CreateButton
          label="Add an SSH key"
          isPermitted={canChange}
          reason={NO_CHANGE}
          onClick={() => setOpen({ kind: 'add' })}
        />
      }
    >
      {isHidden ? (
        <NoAccess />
      ) : (
        <PagedList query={query} what="organization" empty={<NoKey />}>
          {(keys) => <KeyTable keys={keys} refusal={canChange === false ? NO_CHANGE : undefined} onOpen={setOpen} />}
        </PagedList>
      )}
      <KeyDialogs organization={organization} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
};

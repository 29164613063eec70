import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission } from '../../api/organizations.js';
import {
  gpgKeysQuery,
  providersQuery,
  type GpgKey,
  type Provider,
  type PublicProvider,
  type RegistryTarget,
} from '../../api/registry.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RegistryIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { PermittedButton } from '../../components/permitted-button.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { EmptyState, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import frameClasses from '../../components/table-frame.module.css';
import classes from './registry.module.css';

const PublishDialog = lazyComponent(() => import('./publish-dialog.js'), 'PublishDialog');
const AddKeyDialog = lazyComponent(() => import('./add-key-dialog.js'), 'AddKeyDialog');
const AddPublicDialog = lazyComponent(() => import('./public-provider-dialogs.js'), 'AddPublicDialog');
const RemovePublicDialog = lazyComponent(() => import('./public-provider-dialogs.js'), 'RemovePublicDialog');
const DeleteDialog = lazyComponent(() => import('./delete-dialog.js'), 'DeleteDialog');

const NEEDS_RIGHT = 'You need a team with the right to manage providers.';
const NO_PUBLIC_PROVIDER =
  'You need a team with the right to manage providers, in an organization whose settings allow public providers.';

type ProvidersProps = { readonly organization: string; readonly canManage: boolean };

const isPrivate = ({ attributes }: Provider): boolean => attributes['registry-name'] === 'private';

const listColumns = (organization: string): readonly DataColumn<Provider>[] => [
  {
    header: 'Name',
    cell: (provider) => {
      const { name, namespace } = provider.attributes;
      if (!isPrivate(provider)) return `${namespace}/${name}`;
      return (
        <Link
          to="/$organization/registry/$provider"
          params={{ organization, provider: name }}
          className={frameClasses['name']}
        >
          {name}
        </Link>
      );
    },
  },
  { header: 'Registry', cell: (provider) => (isPrivate(provider) ? 'Private' : 'Public') },
  {
    header: 'Versions',
    isWide: true,
    cell: (provider) =>
      isPrivate(provider) ? (provider.relationships['registry-provider-versions'].data?.length ?? 0) : '–',
  },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

const NoProvider = ({ organization, canManage }: ProvidersProps) => (
  <EmptyState icon={RegistryIcon} title="There is no provider yet">
    <Text>
      {canManage
        ? 'Build and sign a release of your provider with GoReleaser. Then publish the files here, or from CI with the command below.'
        : 'A team with the right to manage providers can publish one with this command.'}
    </Text>
    <CodeBlock
      code={`cadastre-provider publish --server ${window.location.origin} \\\n  --org ${organization} --name example --key key.asc dist`}
      label="the command"
    />
  </EmptyState>
);

/** Private providers are deleted on their own screen. */
const listActions = (provider: Provider, onRemove: (provider: PublicProvider) => void): RowActionsProps => {
  const { namespace, name } = provider.attributes;
  const remove = { action: 'Remove', isDangerous: true, onClick: () => onRemove({ namespace, name }) };
  return { name: `${namespace}/${name}`, actions: isPrivate(provider) ? [] : [remove] };
};

const Providers = ({ organization, canManage }: ProvidersProps) => {
  const query = useInfiniteQuery(providersQuery(organization));
  const canList = usePermission(organization, 'can-manage-public-providers') ?? false;
  const [removed, setRemoved] = useState<PublicProvider | null>(null);
  const empty = <NoProvider organization={organization} canManage={canManage} />;
  return (
    <>
      <PagedList query={query} what="organization" empty={empty}>
        {(providers) => (
          <DataTable
            label="Providers"
            rows={providers}
            columns={listColumns(organization)}
            actions={canList ? (provider) => listActions(provider, setRemoved) : undefined}
            isLinked
          />
        )}
      </PagedList>
      {removed && (
        <RemovePublicDialog organization={organization} provider={removed} onClose={() => setRemoved(null)} />
      )}
    </>
  );
};

const KEY_COLUMNS: readonly DataColumn<GpgKey>[] = [
  { header: 'Key', cell: ({ attributes }) => <code>{attributes['key-id']}</code> },
  { header: 'Added', cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
  {
    header: 'Ends',
    cell: ({ attributes: { 'expires-at': end } }) => (end === null ? 'Never' : <Time value={end} />),
  },
];

type KeysProps = ProvidersProps & { readonly onAdd: () => void; readonly onDelete: (target: RegistryTarget) => void };

const Keys = ({ organization, canManage, onAdd, onDelete }: KeysProps) => {
  const query = useQuery(gpgKeysQuery(organization));
  return (
    <Card
      title="GPG keys"
      actions={
        <PermittedButton
          command="Add a GPG key"
          size="compact-sm"
          variant="default"
          isPermitted={canManage}
          reason={NEEDS_RIGHT}
          onClick={onAdd}
        >
          Add a key
        </PermittedButton>
      }
    >
      <QueryState query={query} what="registry">
        {(keys) =>
          keys.length === 0 ? (
            <Text size="sm" c="dimmed">
              There is no key yet. A key signs each version: add its public key before you publish.
            </Text>
          ) : (
            <DataTable
              label="GPG keys"
              isInCard
              rows={keys}
              columns={KEY_COLUMNS}
              actions={({ attributes: { 'key-id': keyId } }) => ({
                name: `the key ${keyId}`,
                actions: [
                  {
                    action: 'Delete',
                    isDangerous: true,
                    refusal: canManage ? undefined : NEEDS_RIGHT,
                    onClick: () => onDelete({ kind: 'key', keyId }),
                  },
                ],
              })}
            />
          )
        }
      </QueryState>
    </Card>
  );
};

/** The providers of an organization, and the keys that sign them. */
export const RegistryScreen = () => {
  const { organization } = useParams({ from: '/$organization/registry' });
  const canManage = usePermission(organization, 'can-create-provider');
  const [isPublishing, publishing] = useDisclosure(false);
  const [isAdding, adding] = useDisclosure(false);
  const [isListing, listing] = useDisclosure(false);
  const canList = usePermission(organization, 'can-manage-public-providers');
  const [target, setTarget] = useState<RegistryTarget | null>(null);
  return (
    <Page
      title="Registry"
      description="Providers that configurations of this organization install."
      actions={
        <>
          <CreateButton
            label="List a public provider"
            variant="default"
            isPermitted={canList}
            reason={NO_PUBLIC_PROVIDER}
            onClick={listing.open}
          />
          <CreateButton
            label="Publish a version"
            isPermitted={canManage}
            reason={NEEDS_RIGHT}
            onClick={publishing.open}
          />
        </>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack className={classes['providers']}>
          <Providers organization={organization} canManage={canManage ?? false} />
        </Stack>
        {canManage !== undefined && (
          <Stack>
            <Keys organization={organization} canManage={canManage} onAdd={adding.open} onDelete={setTarget} />
          </Stack>
        )}
      </SimpleGrid>
      {isPublishing && <PublishDialog organization={organization} onClose={publishing.close} />}
      {isListing && <AddPublicDialog organization={organization} onClose={listing.close} />}
      {isAdding && <AddKeyDialog organization={organization} onClose={adding.close} />}
      {target && <DeleteDialog organization={organization} target={target} onClose={() => setTarget(null)} />}
    </Page>
  );
};

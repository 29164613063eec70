import { Badge, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identityProvidersQuery, useChangeProvider, type IdentityProvider } from '../../api/identity-providers.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { KeyIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import type { RowAction } from '../../components/row-action.js';
import { EmptyState } from '../../components/states.js';
import { showToast } from '../../toasts.js';
import { SitePage } from '../site/site-page.js';

const loadDetails = () => import('./provider-details.js');
const ProviderDialog = lazyComponent(() => import('./provider-dialog.js'), 'ProviderDialog');
const AddressesDialog = lazyComponent(loadDetails, 'AddressesDialog');
const DeleteProviderDialog = lazyComponent(loadDetails, 'DeleteProviderDialog');

type OpenDialog =
  { readonly kind: 'create' } | { readonly kind: 'edit' | 'addresses' | 'delete'; readonly provider: IdentityProvider };

const isOfSettings = ({ attributes }: IdentityProvider): boolean => attributes.source === 'settings';

const COLUMNS: readonly DataColumn<IdentityProvider>[] = [
  {
    header: 'Provider',
    cell: (provider) => (
      <>
        <Group gap="xs">
          <Text size="sm" fw={500} span>
            {provider.attributes.name}
          </Text>
          {!provider.attributes.enabled && <Badge color="gray">Disabled</Badge>}
          {isOfSettings(provider) && <Badge color="gray">From the settings</Badge>}
        </Group>
        <NarrowLine>{provider.attributes.issuer}</NarrowLine>
      </>
    ),
  },
  { header: 'Issuer', isWide: true, cell: ({ attributes }) => attributes.issuer },
  { header: 'New accounts', cell: ({ attributes }) => (attributes['creates-users'] ? 'Created' : 'Not created') },
  {
    header: 'Second factor',
    cell: ({ attributes }) => (attributes['proves-two-factor'] ? 'At the provider' : 'One-time codes'),
  },
];

type ProviderTableProps = {
  readonly providers: readonly IdentityProvider[];
  readonly onOpen: (dialog: OpenDialog) => void;
};

const ProviderTable = ({ providers, onOpen }: ProviderTableProps) => {
  const change = useChangeProvider();
  const enable = ({ id, attributes: { name, enabled } }: IdentityProvider): RowAction => ({
    action: enabled ? 'Disable' : 'Enable',
    onClick: () => {
      const send = (next: boolean, undo?: () => void) =>
        change.mutate(
          { id, attributes: { enabled: next } },
          {
            onSuccess: () =>
              void showToast({ kind: 'success', message: `${name} is ${next ? 'enabled' : 'disabled'}.`, undo }),
          },
        );
      send(!enabled, () => send(enabled));
    },
  });
  const listActions = (provider: IdentityProvider): readonly RowAction[] => [
    {
      action: 'Addresses',
      label: `Addresses of ${provider.attributes.name}`,
      onClick: () => onOpen({ kind: 'addresses', provider }),
    },
    ...(isOfSettings(provider)
      ? []
      : [
          { action: 'Edit', onClick: () => onOpen({ kind: 'edit', provider }) },
          enable(provider),
          { action: 'Delete', isDangerous: true, onClick: () => onOpen({ kind: 'delete', provider }) },
        ]),
  ];
  return (
    <>
      <FormProblems error={change.error} />
      <DataTable
        label="Identity providers"
        rows={providers}
        columns={COLUMNS}
        actions={(provider) => ({ name: provider.attributes.name, actions: listActions(provider) })}
      />
    </>
  );
};

const OpenedDialog = ({ dialog, onClose }: { readonly dialog: OpenDialog; readonly onClose: () => void }) => {
  if (dialog.kind === 'create') return <ProviderDialog provider={null} onClose={onClose} />;
  if (dialog.kind === 'edit') return <ProviderDialog provider={dialog.provider} onClose={onClose} />;
  const Dialog = dialog.kind === 'addresses' ? AddressesDialog : DeleteProviderDialog;
  return <Dialog provider={dialog.provider} onClose={onClose} />;
};

/** The servers with which people can sign in to the site, for its administrators. */
export const SiteProvidersScreen = () => {
  const query = useInfiniteQuery(identityProvidersQuery());
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const empty = (
    <EmptyState icon={KeyIcon} title="There is no identity provider">
      <Text>With a provider, people sign in with the account of your company, by OpenID Connect or SAML.</Text>
    </EmptyState>
  );
  return (
    <SitePage
      title="Identity providers"
      description="Servers that sign people in by OpenID Connect or SAML."
      error={query.error}
      actions={
        <CreateButton
          label="New provider"
          isPermitted={query.data ? true : undefined}
          onClick={() => setDialog({ kind: 'create' })}
        />
      }
    >
      <PagedList query={query} what="list" empty={empty}>
        {(providers) => <ProviderTable providers={providers} onOpen={setDialog} />}
      </PagedList>
      {dialog && <OpenedDialog dialog={dialog} onClose={() => setDialog(null)} />}
    </SitePage>
  );
};

import { SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { ApiError } from '../../api/api-error.js';
import { organizationQuery } from '../../api/organizations.js';
import { gpgKeysQuery, providersQuery, type Provider, type RegistryTarget } from '../../api/registry.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { PlusIcon, RegistryIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { Page } from '../../components/page.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, ErrorState, LoadingLines, NotFoundState, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import frameClasses from '../../components/table-frame.module.css';
import classes from './registry.module.css';

const PublishDialog = lazyComponent(() => import('./publish-dialog.js'), 'PublishDialog');
const AddKeyDialog = lazyComponent(() => import('./add-key-dialog.js'), 'AddKeyDialog');
const DeleteDialog = lazyComponent(() => import('./delete-dialog.js'), 'DeleteDialog');

const NEEDS_RIGHT = 'You need a team with the right to manage providers.';

type ProvidersProps = { readonly organization: string; readonly canManage: boolean };

const ProviderRow = ({ organization, provider }: { readonly organization: string; readonly provider: Provider }) => {
  const { name, namespace, 'registry-name': registry, 'created-at': createdAt } = provider.attributes;
  return (
    <Table.Tr>
      <Table.Td>
        {registry === 'private' ? (
          <Link
            to="/$organization/registry/$provider"
            params={{ organization, provider: name }}
            className={frameClasses['name']}
          >
            {name}
          </Link>
        ) : (
          `${namespace}/${name}`
        )}
      </Table.Td>
      <Table.Td>{registry === 'private' ? 'Private' : 'Public'}</Table.Td>
      <Table.Td className={frameClasses['wide']}>
        {registry === 'private' ? (provider.relationships['registry-provider-versions'].data?.length ?? 0) : '–'}
      </Table.Td>
      <Table.Td className={frameClasses['wide']}>
        <Time value={createdAt} />
      </Table.Td>
    </Table.Tr>
  );
};

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

const Providers = ({ organization, canManage }: ProvidersProps) => {
  const query = useInfiniteQuery(providersQuery(organization));
  if (query.error instanceof ApiError && query.error.isNotFound) return <NotFoundState what="organization" />;
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={4} height={40} />;
  const providers = query.data.pages.flatMap(({ data }) => data);
  if (providers.length === 0) return <NoProvider organization={organization} canManage={canManage} />;
  return (
    <>
      <div className={frameClasses['frame']}>
        <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover aria-label="Providers">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Registry</Table.Th>
              <Table.Th className={frameClasses['wide']}>Versions</Table.Th>
              <Table.Th className={frameClasses['wide']}>Created</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {providers.map((provider) => (
              <ProviderRow key={provider.id} organization={organization} provider={provider} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <LoadMore query={query} />
    </>
  );
};

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
            keys.map(({ id, attributes: { 'key-id': keyId, 'created-at': createdAt, 'expires-at': end } }) => (
              <div key={id} className={classes['key']}>
                <div>
                  <code>{keyId}</code>
                  <Text size="xs" c="dimmed">
                    added <Time value={createdAt} />,{' '}
                    {end === null ? (
                      'has no end'
                    ) : (
                      <>
                        ends <Time value={end} />
                      </>
                    )}
                  </Text>
                </div>
                <PermittedButton
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  aria-label={`Delete the key ${keyId}`}
                  isPermitted={canManage}
                  reason={NEEDS_RIGHT}
                  onClick={() => onDelete({ kind: 'key', keyId })}
                >
                  Delete
                </PermittedButton>
              </div>
            ))
          )
        }
      </QueryState>
    </Card>
  );
};

/** The providers of an organization, and the keys that sign them. */
export const RegistryScreen = () => {
  const { organization } = useParams({ from: '/$organization/registry' });
  const { data: details } = useQuery(organizationQuery(organization));
  const canManage = details?.attributes.permissions['can-create-provider'] ?? false;
  const [isPublishing, publishing] = useDisclosure(false);
  const [isAdding, adding] = useDisclosure(false);
  const [target, setTarget] = useState<RegistryTarget | null>(null);
  return (
    <Page
      title="Registry"
      breadcrumbs={[{ label: organization, to: `/${organization}` }]}
      description="Providers that configurations of this organization install."
      actions={
        details && (
          <PermittedButton
            command="Publish a version"
            isPermitted={canManage}
            reason={NEEDS_RIGHT}
            leftSection={<PlusIcon size={16} />}
            onClick={publishing.open}
          >
            Publish a version
          </PermittedButton>
        )
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack className={classes['providers']}>
          <Providers organization={organization} canManage={canManage} />
        </Stack>
        {details && (
          <Stack>
            <Keys organization={organization} canManage={canManage} onAdd={adding.open} onDelete={setTarget} />
          </Stack>
        )}
      </SimpleGrid>
      {isPublishing && <PublishDialog organization={organization} onClose={publishing.close} />}
      {isAdding && <AddKeyDialog organization={organization} onClose={adding.close} />}
      {target && <DeleteDialog organization={organization} target={target} onClose={() => setTarget(null)} />}
    </Page>
  );
};

import { Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { listRows } from '../../api/pages.js';
import { providerQuery, versionsQuery, type ProviderVersion, type RegistryTarget } from '../../api/registry.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { RegistryIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, QueryState } from '../../components/states.js';
import { VersionMatrix } from './version-matrix.js';

const PublishDialog = lazyComponent(() => import('../registry/publish-dialog.js'), 'PublishDialog');
const DeleteDialog = lazyComponent(() => import('../registry/delete-dialog.js'), 'DeleteDialog');

const NEEDS_RIGHT = 'You need a team with the right to manage providers.';

const buildRequirement = (organization: string, provider: string, version: string): string =>
  `terraform {
  required_providers {
    ${provider} = {
      source  = "${window.location.host}/${organization}/${provider}"
      version = "${version}"
    }
  }
}`;

type PartProps = { readonly organization: string; readonly provider: string };

const Requirement = ({ organization, provider, versions }: PartProps & { versions: readonly ProviderVersion[] }) => {
  const usable = versions.find(({ attributes }) => attributes.usable);
  return (
    <Card title="Use this provider">
      {usable ? (
        <>
          <Text size="sm" c="dimmed">
            Add this block to a configuration, and run <code>terraform init</code>.
          </Text>
          <CodeBlock
            code={buildRequirement(organization, provider, usable.attributes.version)}
            label="the required_providers block"
          />
        </>
      ) : (
        <Text size="sm">No version can be installed yet. The table lists what each lacks.</Text>
      )}
    </Card>
  );
};

type VersionsProps = PartProps & { readonly onDelete: (version: string) => void };

const NoVersion = () => (
  <EmptyState icon={RegistryIcon} title="There is no version yet">
    <Text>Build and sign a release with GoReleaser, and publish its files.</Text>
    <CodeBlock code="goreleaser release --clean --skip=publish" label="the command" />
  </EmptyState>
);

const Versions = ({ organization, provider, onDelete }: VersionsProps) => {
  const query = useInfiniteQuery(versionsQuery(organization, provider));
  const common = { organization, provider, versions: listRows(query.data) };
  return (
    <Stack>
      <PagedList query={query} what="provider" empty={<NoVersion />}>
        {() => <VersionMatrix {...common} onDelete={onDelete} />}
      </PagedList>
      {common.versions.length > 0 && <Requirement {...common} />}
    </Stack>
  );
};

/** The versions of a private provider. */
export const ProviderScreen = () => {
  const { organization, provider } = useParams({ from: '/$organization/registry/$provider' });
  const navigate = useNavigate();
  const query = useQuery(providerQuery(organization, provider));
  const permission = { isPermitted: query.data?.attributes.permissions['can-delete'] ?? false, reason: NEEDS_RIGHT };
  const id = query.data?.id;
  const [isPublishing, publishing] = useDisclosure(false);
  const [target, setTarget] = useState<RegistryTarget | null>(null);
  const leave = () => void navigate({ to: '/$organization/registry', params: { organization } });
  return (
    <Page
      title={provider}
      actions={
        id !== undefined && (
          <>
            <PermittedButton
              {...permission}
              variant="default"
              onClick={() => setTarget({ kind: 'provider', id, name: provider })}
            >
              Delete the provider
            </PermittedButton>
            <PermittedButton {...permission} command="Publish a version" onClick={publishing.open}>
              Publish a version
            </PermittedButton>
          </>
        )
      }
    >
      <QueryState query={query} what="provider">
        {() => (
          <Versions
            organization={organization}
            provider={provider}
            onDelete={(version) => setTarget({ kind: 'version', name: provider, version })}
          />
        )}
      </QueryState>
      {isPublishing && <PublishDialog organization={organization} onClose={publishing.close} />}
      {target && (
        <DeleteDialog
          organization={organization}
          target={target}
          onClose={() => setTarget(null)}
          {...(target.kind === 'provider' ? { onDeleted: leave } : {})}
        />
      )}
    </Page>
  );
};

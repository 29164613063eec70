import { Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {} from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { accountQuery } from '../../api/account.js';
import { organizationsQuery, type Organization } from '../../api/organizations.js';
import { workspaceCountQuery } from '../../api/workspaces.js';
import { OrganizationIcon, PlusIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { Page } from '../../components/page.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, ErrorState, LoadingLines } from '../../components/states.js';
import { TerraformBlock } from '../../components/terraform-block.js';
import { CodeBlock } from '../../components/copy.js';
import { Time } from '../../components/times.js';
import { getOrganizationPath } from '../../layout/navigation.js';
import { Invitations } from './invitations.js';
import classes from '../../components/table-frame.module.css';

const CreateOrganizationDialog = lazyComponent(
  () => import('./create-organization-dialog.js'),
  'CreateOrganizationDialog',
);

const WorkspaceCount = ({ organization }: { readonly organization: string }) => {
  const { data } = useQuery(workspaceCountQuery(organization));
  return <>{data?.toLocaleString() ?? '…'}</>;
};

/** An owner may change the organization itself. */
const describeRole = ({ attributes: { permissions } }: Organization): string =>
  permissions['can-update'] ? 'Owner' : 'Member';

const OrganizationRow = ({ organization }: { readonly organization: Organization }) => (
  <Table.Tr>
    <Table.Td>
      <Link to={getOrganizationPath(organization.id)} className={classes['name']}>
        {organization.id}
      </Link>
    </Table.Td>
    <Table.Td ta="right">
      <WorkspaceCount organization={organization.id} />
    </Table.Td>
    <Table.Td className={classes['wide']}>{describeRole(organization)}</Table.Td>
    <Table.Td className={classes['wide']}>
      <Time value={organization.attributes['created-at']} />
    </Table.Td>
  </Table.Tr>
);

const OrganizationTable = ({ organizations }: { readonly organizations: readonly Organization[] }) => (
  <div className={classes['frame']}>
    <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover aria-label="Organizations">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th ta="right">Workspaces</Table.Th>
          <Table.Th className={classes['wide']}>Your role</Table.Th>
          <Table.Th className={classes['wide']}>Created</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {organizations.map((organization) => (
          <OrganizationRow key={organization.id} organization={organization} />
        ))}
      </Table.Tbody>
    </Table>
  </div>
);

const NoOrganization = ({ canCreate, onCreate }: { readonly canCreate: boolean; readonly onCreate: () => void }) => (
  <EmptyState icon={OrganizationIcon} title="You are in no organization yet">
    <Text>
      An organization has workspaces, teams and a registry of its own.{' '}
      {canCreate
        ? 'Create one, or ask an owner of an organization to invite you.'
        : 'Ask an owner of an organization to invite you.'}
    </Text>
    {canCreate && (
      <div>
        <Button leftSection={<PlusIcon size={16} />} onClick={onCreate}>
          Create an organization
        </Button>
      </div>
    )}
    <Text size="sm" c="dimmed">
      Then add this block to a configuration, with the name of your organization, and initialize it:
    </Text>
    <TerraformBlock organization="YOUR-ORGANIZATION" workspace="hello" />
    <CodeBlock code="terraform init" label="the command" />
  </EmptyState>
);

const Organizations = ({ canCreate, onCreate }: { readonly canCreate: boolean; readonly onCreate: () => void }) => {
  const query = useInfiniteQuery(organizationsQuery());
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={5} height={40} />;
  const organizations = query.data.pages.flatMap(({ data }) => data);
  if (organizations.length === 0) return <NoOrganization canCreate={canCreate} onCreate={onCreate} />;
  return (
    <>
      <OrganizationTable organizations={organizations} />
      <LoadMore mt="md" query={query} />
    </>
  );
};

/** The organizations of the person, below the invitations to others. */
export const OrganizationsScreen = () => {
  const [isCreating, dialog] = useDisclosure(false);
  const { data: account } = useQuery(accountQuery);
  const canCreate = account?.attributes.permissions['can-create-organizations'] ?? false;
  return (
    <Page
      title="Organizations"
      actions={
        account && (
          <PermittedButton
            command="New organization"
            isPermitted={canCreate}
            reason="This account may not create organizations."
            leftSection={<PlusIcon size={16} />}
            onClick={dialog.open}
          >
            New organization
          </PermittedButton>
        )
      }
    >
      <Invitations />
      <Organizations canCreate={canCreate} onCreate={dialog.open} />
      {isCreating && <CreateOrganizationDialog onClose={dialog.close} />}
    </Page>
  );
};

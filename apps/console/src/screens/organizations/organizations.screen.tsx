import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountQuery } from '../../api/account.js';
import { organizationsQuery, type Organization } from '../../api/organizations.js';
import { workspaceCountQuery } from '../../api/workspaces.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { OrganizationIcon, PlusIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { TerraformBlock } from '../../components/terraform-block.js';
import { CodeBlock } from '../../components/copy.js';
import { Time } from '../../components/times.js';
import { getOrganizationPath } from '../../navigation.js';
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

const COLUMNS: readonly DataColumn<Organization>[] = [
  {
    header: 'Name',
    cell: ({ id }) => (
      <Link to={getOrganizationPath(id)} className={classes['name']}>
        {id}
      </Link>
    ),
  },
  { header: 'Workspaces', align: 'right', cell: ({ id }) => <WorkspaceCount organization={id} /> },
  { header: 'Your role', isWide: true, cell: describeRole },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

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

/** The organizations of the person, below the invitations to others. */
export const OrganizationsScreen = () => {
  const [isCreating, dialog] = useDisclosure(false);
  const { data: account } = useQuery(accountQuery);
  const query = useInfiniteQuery(organizationsQuery());
  const canCreate = account?.attributes.permissions['can-create-organizations'];
  return (
    <Page
      title="Organizations"
      actions={
        <CreateButton
          label="New organization"
          isPermitted={canCreate}
          reason="This account may not create organizations."
          onClick={dialog.open}
        />
      }
    >
      <Invitations />
      <PagedList
        query={query}
        what="list"
        empty={<NoOrganization canCreate={canCreate ?? false} onCreate={dialog.open} />}
      >
        {(organizations) => <DataTable label="Organizations" rows={organizations} columns={COLUMNS} isLinked />}
      </PagedList>
      {isCreating && <CreateOrganizationDialog onClose={dialog.close} />}
    </Page>
  );
};

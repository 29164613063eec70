import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { organizationQuery } from '../api/organizations.js';
import { useWorkspaceCreation } from '../api/workspace-creation.js';
import { CodeBlock } from './copy.js';
import { WorkspaceIcon } from './icons.js';
import { NewWorkspaceButton } from './new-workspace-button.js';
import { EmptyState, QueryState } from './states.js';
import { TerraformBlock } from './terraform-block.js';

/** The next step of a person who sees no workspace of an organization: there may be workspaces that the person may not read. */
export const NoWorkspace = ({ organization }: { readonly organization: string }) => {
  const query = useQuery(organizationQuery(organization));
  const canCreate = useWorkspaceCreation(organization);
  const button = (
    <div>
      <NewWorkspaceButton organization={organization} label="Create a workspace" />
    </div>
  );
  return (
    <QueryState query={query} what="organization">
      {({ attributes }) =>
        attributes.permissions['can-create-workspace'] ? (
          <EmptyState icon={WorkspaceIcon} title="There is no workspace yet">
            {button}
            <Text>
              Or add this block to a Terraform configuration, and initialize it. Terraform creates the workspace.
            </Text>
            <TerraformBlock organization={organization} workspace="hello" />
            <CodeBlock code="terraform init" label="the command" />
          </EmptyState>
        ) : (
          <EmptyState icon={WorkspaceIcon} title="You may read no workspace">
            <Text>
              {canCreate ? 'Create one in a project of your teams, or ask' : 'Ask'} an owner of the organization to give
              one of your teams access to a workspace or a project.
            </Text>
            {canCreate && button}
          </EmptyState>
        )
      }
    </QueryState>
  );
};

import { Text } from '@mantine/core';
import { CodeBlock } from '../../components/copy.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { EmptyState } from '../../components/states.js';
import { TerraformBlock } from '../../components/terraform-block.js';

/** How to create the first workspace of an organization. */
export const NoWorkspace = ({ organization }: { readonly organization: string }) => (
  <EmptyState icon={WorkspaceIcon} title="There is no workspace yet">
    <Text>Add this block to a Terraform configuration, and initialize it. Terraform creates the workspace.</Text>
    <TerraformBlock organization={organization} workspace="hello" />
    <CodeBlock code="terraform init" label="the command" />
  </EmptyState>
);

import { Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { workspaceRunsQuery } from '../../api/runs.js';
import { workspaceQuery, type Workspace } from '../../api/workspaces.js';
import { RunIcon } from '../../components/icons.js';
import { RunList } from '../../components/run-list.js';
import { EmptyState } from '../../components/states.js';
import { TerraformBlock } from '../../components/terraform-block.js';
import { explainLocalExecution } from '../workspace/new-run-button.js';

const NoRun = ({ organization, workspace }: { readonly organization: string; readonly workspace: Workspace }) => (
  <EmptyState icon={RunIcon} title="There is no run yet">
    <Text>
      {explainLocalExecution(workspace) ??
        'An executor plans the configuration of the workspace, and applies the plan after a confirmation. New run queues one. So does terraform plan, with this block in your configuration:'}
    </Text>
    <TerraformBlock organization={organization} workspace={workspace.attributes.name} />
  </EmptyState>
);

const Runs = ({ organization, workspace }: { readonly organization: string; readonly workspace: Workspace }) => {
  const query = useInfiniteQuery(workspaceRunsQuery(organization, workspace.id));
  return (
    <RunList
      organization={organization}
      query={query}
      withWorkspace={false}
      empty={<NoRun organization={organization} workspace={workspace} />}
    />
  );
};

/** The runs of a workspace. */
export const WorkspaceRunsScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/runs' });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  if (!data.data.attributes.permissions['can-read-run']) {
    return (
      <EmptyState icon={RunIcon} title="You may not read the runs">
        <Text>Ask an owner of the organization for a team with read access to the runs of this workspace.</Text>
      </EmptyState>
    );
  }
  return <Runs organization={organization} workspace={data.data} />;
};

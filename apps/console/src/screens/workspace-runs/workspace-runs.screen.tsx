import { Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { workspaceRunsQuery } from '../../api/runs.js';
import { workspaceQuery, type Workspace } from '../../api/workspaces.js';
import { CodeBlock } from '../../components/copy.js';
import { RunIcon } from '../../components/icons.js';
import { RunList } from '../../components/run-list.js';
import { EmptyState } from '../../components/states.js';

/** Returns a command that creates a run. */
const formatCommand = (workspace: string): string => `curl "${window.location.origin}/api/v2/runs" \\
  --header "Authorization: Bearer $TOKEN" \\
  --header "Content-Type: application/vnd.api+json" \\
  --data '{"data": {"type": "runs", "relationships": {
    "workspace": {"data": {"type": "workspaces", "id": "${workspace}"}}}}}'`;

const NoRun = ({ workspace }: { readonly workspace: Workspace }) => (
  <EmptyState icon={RunIcon} title="There is no run yet">
    <Text>
      With local execution, terraform plans and applies on your machine. After you upload a configuration version, this
      command queues a run for an executor:
    </Text>
    <CodeBlock code={formatCommand(workspace.id)} label="the command" />
  </EmptyState>
);

const Runs = ({ organization, workspace }: { readonly organization: string; readonly workspace: Workspace }) => {
  const query = useInfiniteQuery(workspaceRunsQuery(organization, workspace.id));
  return (
    <RunList organization={organization} query={query} withWorkspace={false} empty={<NoRun workspace={workspace} />} />
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

import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { saveStateFile } from '../../api/state-data.js';
import { currentStateQuery } from '../../api/states.js';
import { describeHolder } from '../../api/included.js';
import { workspaceQuery, type WorkspaceDocument } from '../../api/workspaces.js';
import { Card, FactList } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { ResourceIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { UploadButton } from '../state-versions/upload-button.js';
import { StateCharts } from './state-charts.js';

const Outputs = lazyComponent(() => import('./outputs.js'), 'Outputs', <LoadingLines />);
const Resources = lazyComponent(() => import('./resources.js'), 'Resources', <LoadingLines />);
const SharingGraph = lazyComponent(() => import('./sharing-graph.js'), 'SharingGraph');

const KIB = 1024;

const formatSize = (bytes: number): string => {
  if (bytes < KIB) return `${bytes} B`;
  return bytes < KIB ** 2 ? `${(bytes / KIB).toFixed(1)} KiB` : `${(bytes / KIB ** 2).toFixed(1)} MiB`;
};

type StateProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

const NoState = (props: StateProps) => (
  <EmptyState icon={ResourceIcon} title="There is no state yet">
    <Text>
      The first apply of a configuration with this workspace uploads a state. You can also upload one from another
      backend.
    </Text>
    <CodeBlock code={'terraform init\nterraform apply'} label="the commands" />
    <div>
      <UploadButton {...props} />
    </div>
  </EmptyState>
);

const NoPermission = ({ what, level }: { readonly what: string; readonly level: string }) => (
  <Text size="sm" c="dimmed">
    You may not read {what}. Ask an owner of the organization for a team with {level} to this workspace.
  </Text>
);

const StateVersion = ({ organization, workspace }: StateProps) => {
  const { id, attributes } = workspace.data;
  const query = useQuery(currentStateQuery(id));
  const version = query.data?.data;
  const download = version && (
    <Button
      size="compact-sm"
      variant="default"
      onClick={() => saveStateFile(version.id, `${attributes.name}-${version.attributes.serial}.tfstate`)}
    >
      Download
    </Button>
  );
  const actions = (
    <Group gap="xs">
      {download}
      <UploadButton organization={organization} workspace={workspace} />
    </Group>
  );
  return (
    <Card title="Current state version" actions={actions}>
      <QueryState query={query} what="state">
        {(document) => {
          const { attributes, relationships } = document.data;
          return (
            <FactList
              facts={[
                { label: 'Serial', value: attributes.serial.toLocaleString() },
                { label: 'Created', value: <Time value={attributes['created-at']} /> },
                { label: 'Created by', value: describeHolder(document, relationships['created-by'].data) },
                { label: 'Terraform version', value: attributes['terraform-version'] ?? 'unknown' },
                { label: 'Size', value: attributes.size === null ? 'unknown' : formatSize(attributes.size) },
              ]}
            />
          );
        }}
      </QueryState>
    </Card>
  );
};

const StateContent = ({ organization, workspace }: StateProps) => {
  const { id, attributes } = workspace.data;
  const { permissions } = attributes;
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        The audit trail records that you read the state.
      </Text>
      {permissions['can-read-state-versions'] && <StateVersion organization={organization} workspace={workspace} />}
      <Card title="Outputs">
        {permissions['can-read-state-outputs'] ? (
          <Outputs workspace={id} />
        ) : (
          <NoPermission what="outputs" level="read access" />
        )}
      </Card>
      <Card title="Resources">
        {permissions['can-read-state-versions'] ? (
          <Resources workspace={id} />
        ) : (
          <NoPermission what="the state" level="read access to state versions" />
        )}
      </Card>
      {permissions['can-read-state-versions'] && <StateCharts organization={organization} workspace={workspace.data} />}
    </Stack>
  );
};

/** The current state of a workspace: its version, its outputs and its resources, and which workspaces share states with it. */
export const WorkspaceStateScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/state' });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  return (
    <Stack>
      {data.data.relationships['current-state-version'].data === null ? (
        <NoState organization={organization} workspace={data} />
      ) : (
        <StateContent organization={organization} workspace={data} />
      )}
      <SharingGraph organization={organization} workspace={data.data} />
    </Stack>
  );
};

import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { agentPoolQuery } from '../../api/agent-pools.js';
import { readInheritedExecution } from '../../api/inherited-execution.js';
import { findIncluded } from '../../api/included.js';
import { getSharing } from '../../api/shared-states.js';
import { workspaceQuery, type WorkspaceDocument } from '../../api/workspaces.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { CodeBlock, CopyableId } from '../../components/copy.js';
import { EXECUTION_MODES } from '../../components/execution-modes.js';
import { LongText } from '../../components/long-text.js';
import { RunStatusBadge } from '../../components/run-status.js';
import { TextLink } from '../../components/text-link.js';
import { TerraformBlock } from '../../components/terraform-block.js';
import { Time } from '../../components/times.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { WhenVisible } from '../../components/when-visible.js';
import { HealthCard } from './health-card.js';
import { LockNotice } from './lock-notice.js';
import { TagsCard } from './tags-card.js';

const RunDaysChart = lazyComponent(() => import('../../charts/run-days.js'), 'RunDaysChart');

const RunDurationsChart = lazyComponent(() => import('../../charts/run-durations.js'), 'RunDurationsChart');

const CHART_HEIGHT = 340;

type PartProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

const describeFirstRun = (executionMode: string): string =>
  executionMode === 'local'
    ? 'With local execution, terraform plans and applies on your machine.'
    : 'The tab Runs shows how to queue one.';

const LatestRun = ({ organization, workspace }: PartProps) => {
  const { permissions, 'execution-mode': executionMode } = workspace.data.attributes;
  const run = findIncluded(workspace, workspace.data.relationships['current-run'].data);
  return (
    <Card title="Latest run">
      {run ? (
        <FactList
          facts={[
            {
              label: 'Status',
              value: (
                <RunStatusBadge run={{ status: run.attributes.status, hasChanges: run.attributes['has-changes'] }} />
              ),
            },
            {
              label: 'Message',
              value: (
                <LongText text={run.attributes.message}>
                  <Link
                    to="/$organization/workspaces/$workspace/runs/$run"
                    params={{ organization, workspace: workspace.data.attributes.name, run: run.id }}
                  >
                    {run.attributes.message || run.id}
                  </Link>
                </LongText>
              ),
            },
            { label: 'Created', value: <Time value={run.attributes['created-at']} /> },
          ]}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {permissions['can-read-run']
            ? `There is no run yet. ${describeFirstRun(executionMode)}`
            : 'You need a team with read access to runs to see them.'}
        </Text>
      )}
    </Card>
  );
};

const CurrentState = ({ organization, workspace }: PartProps) => {
  const { attributes, relationships } = workspace.data;
  const { permissions } = attributes;
  const hasState = relationships['current-state-version'].data !== null;
  return (
    <Card
      title="State"
      actions={
        hasState && (
          <Text size="sm">
            <Link to="/$organization/workspaces/$workspace/state" params={{ organization, workspace: attributes.name }}>
              Resources and outputs
            </Link>
          </Text>
        )
      }
    >
      {hasState ? (
        <FactList
          facts={[
            { label: 'Resources', value: attributes['resource-count'].toLocaleString() },
            {
              label: 'Outputs',
              value: permissions['can-read-state-outputs']
                ? (relationships.outputs.data ?? []).length.toLocaleString()
                : 'You need a team that may read outputs.',
            },
            { label: 'Last change', value: <Time value={attributes['latest-change-at']} /> },
          ]}
        />
      ) : (
        <>
          <Text size="sm" c="dimmed">
            There is no state yet. The first apply uploads one:
          </Text>
          <CodeBlock code={'terraform init\nterraform apply'} label="the commands" />
        </>
      )}
    </Card>
  );
};

const formatYes = (isTrue: boolean): string => (isTrue ? 'Yes' : 'No');

const SHARING = {
  organization: 'All workspaces of the organization',
  project: 'All workspaces of the project',
  names: 'Only the workspaces that it names',
};

const describeMode = (workspace: WorkspaceDocument): string => {
  const { attributes } = workspace.data;
  const { label } = EXECUTION_MODES[attributes['execution-mode']];
  const inherited = attributes['setting-overwrites']['execution-mode'] ? null : readInheritedExecution(workspace);
  return inherited ? `${label}, inherited from ${inherited.source}` : label;
};

const PoolName = ({ organization, id }: { readonly organization: string; readonly id: string }) => {
  const { data } = useQuery(agentPoolQuery(organization, id));
  return data?.attributes.name ?? id;
};

const listSettings = ({ organization, workspace }: PartProps): readonly LabeledFact[] => {
  const { id, attributes, relationships } = workspace.data;
  const project = findIncluded(workspace, relationships.project.data);
  const repository = attributes['vcs-repo'];
  const { data: pool } = relationships['agent-pool'];
  return [
    { label: 'Id', value: <CopyableId id={id} /> },
    {
      label: 'Project',
      value: project && (
        <Link to="/$organization/projects/$project" params={{ organization, project: project.id }}>
          {project.attributes.name}
        </Link>
      ),
    },
    { label: 'Execution mode', value: describeMode(workspace) },
    ...(pool ? [{ label: 'Agent pool', value: <PoolName organization={organization} id={pool.id} /> }] : []),
    { label: 'Terraform version', value: attributes['terraform-version'] },
    { label: 'Applies automatically', value: formatYes(attributes['auto-apply']) },
    ...(attributes['working-directory']
      ? [{ label: 'Working directory', value: attributes['working-directory'] }]
      : []),
    ...(repository
      ? [{ label: 'Repository', value: `${repository.identifier} (${repository.branch || 'default branch'})` }]
      : []),
    { label: 'State is read by', value: SHARING[getSharing(workspace.data)] },
    { label: 'Created', value: <Time value={attributes['created-at']} /> },
    { label: 'Changed', value: <Time value={attributes['updated-at']} /> },
  ];
};

const Usage = ({ organization, workspace }: PartProps) => (
  <Card title="Use this workspace">
    <Text size="sm" c="dimmed">
      Add this block to a configuration, and run <code>terraform init</code>.
    </Text>
    <TerraformBlock organization={organization} workspace={workspace.data.attributes.name} />
  </Card>
);

const Overview = ({ organization, workspace }: PartProps) => {
  const { relationships } = workspace.data;
  const identity = { id: workspace.data.id, name: workspace.data.attributes.name };
  // The next step in a new workspace.
  const isUnused = relationships['current-state-version'].data === null && relationships['current-run'].data === null;
  const usage = <Usage organization={organization} workspace={workspace} />;
  return (
    <Stack>
      {workspace.data.attributes.locked && <LockNotice organization={organization} workspace={workspace} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Stack>
          {isUnused && usage}
          <LatestRun organization={organization} workspace={workspace} />
          <CurrentState organization={organization} workspace={workspace} />
          <HealthCard organization={organization} workspace={workspace} />
          {!isUnused && usage}
        </Stack>
        <Stack>
          <Card
            title="Settings"
            actions={
              <TextLink
                to="/$organization/workspaces/$workspace/settings"
                params={{ organization, workspace: workspace.data.attributes.name }}
              >
                All settings
              </TextLink>
            }
          >
            <FactList facts={listSettings({ organization, workspace })} />
          </Card>
          <TagsCard organization={organization} workspace={workspace} />
        </Stack>
      </SimpleGrid>
      {relationships['current-run'].data !== null && (
        <>
          <WhenVisible height={CHART_HEIGHT}>
            <RunDaysChart organization={organization} workspace={identity} />
          </WhenVisible>
          <WhenVisible height={CHART_HEIGHT}>
            <RunDurationsChart organization={organization} workspace={identity} />
          </WhenVisible>
        </>
      )}
    </Stack>
  );
};

/** The facts about a workspace that a person needs first. */
export const WorkspaceOverviewScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/' });
  const { data } = useQuery(workspaceQuery(organization, name));
  return data ? <Overview organization={organization} workspace={data} /> : null;
};

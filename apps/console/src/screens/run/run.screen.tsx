import { Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { findIncluded } from '../../api/included.js';
import { runQuery, type RunDocument } from '../../api/runs.js';
import { workspaceQuery } from '../../api/workspaces.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { CopyableId } from '../../components/copy.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { hasEnded } from '../../components/run-status.js';
import { NotFoundState, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { usePollInterval } from '../../live/live-state.js';
import { CommitCard } from './commit-card.js';
import { NextStep } from './next-step.js';
import { PhaseCard } from './phase-card.js';
import { RunEvents } from './run-events.js';
import classes from './run.module.css';

const CommentDialog = lazyComponent(() => import('./comment-dialog.js'), 'CommentDialog');
const PolicyStageCard = lazyComponent(() => import('./policy-stage-card.js'), 'PolicyStageCard');
const TaskStageCard = lazyComponent(() => import('./task-stage-card.js'), 'TaskStageCard');

const POLL_MS = 5_000;

const NO_COMMENT = 'You need a team that may plan or apply runs of this workspace.';

const formatKind = ({ attributes }: RunDocument['data']): string => {
  if (attributes['is-destroy'])
    return attributes['plan-only'] ? 'Plans to destroy all resources' : 'Destroys all resources';
  if (attributes['refresh-only']) return 'Refreshes the state only';
  return attributes['plan-only'] ? 'Plans only' : 'Plans and applies';
};

const formatYes = (isTrue: boolean): string => (isTrue ? 'Yes' : 'No');

const listAddresses = (label: string, addresses: readonly string[] | null): readonly LabeledFact[] =>
  addresses === null ? [] : [{ label, value: addresses.map((each) => <div key={each}>{each}</div>) }];

/** Options that differ from those of most runs. */
const listOptions = ({ attributes: run }: RunDocument['data']): readonly LabeledFact[] => [
  ...(run['plan-only'] ? [] : [{ label: 'Applies automatically', value: formatYes(run['auto-apply']) }]),
  ...(run['allow-empty-apply'] ? [{ label: 'Applies without changes', value: 'Yes' }] : []),
  ...(run.refresh ? [] : [{ label: 'Reads the resources first', value: 'No' }]),
  ...listAddresses('Only', run['target-addrs']),
  ...listAddresses('Replaces', run['replace-addrs']),
  ...listAddresses(
    'Variables',
    run.variables.length === 0 ? null : run.variables.map(({ key, value }) => `${key} = ${value}`),
  ),
];

/** What has started the run, if a run trigger has. */
const listTriggerFacts = (organization: string, { data }: RunDocument): readonly LabeledFact[] => {
  const run = data.relationships['triggering-run'].data;
  const source = data.attributes['triggering-source-name'];
  if (run === null) return [];
  if (source === null) return [{ label: 'Started by', value: <CopyableId id={run.id} /> }];
  return [
    {
      label: 'Started by',
      value: (
        <TextLink
          to="/$organization/workspaces/$workspace/runs/$run"
          params={{ organization, workspace: source, run: run.id }}
        >
          Run of {source}
        </TextLink>
      ),
    },
  ];
};

const listFacts = (organization: string, document: RunDocument): readonly LabeledFact[] => {
  const { id, attributes, relationships } = document.data;
  const confirmedBy = findIncluded(document, relationships['confirmed-by'].data);
  return [
    { label: 'Id', value: <CopyableId id={id} /> },
    { label: 'Kind', value: formatKind(document.data) },
    ...listTriggerFacts(organization, document),
    ...(confirmedBy ? [{ label: 'Confirmed by', value: confirmedBy.attributes.username }] : []),
    ...listOptions(document.data),
    { label: 'Terraform version', value: attributes['terraform-version'] },
    { label: 'Configuration', value: <CopyableId id={relationships['configuration-version'].data.id} /> },
  ];
};

type RunProps = { readonly organization: string; readonly workspace: string; readonly document: RunDocument };

/** The phases and the stages of run tasks in their order. A run that plans only has no apply. */
const Phases = ({ organization, document: { data, included = [] } }: Omit<RunProps, 'workspace'>) => {
  const plan = included.find((each) => each.type === 'plans');
  const apply = included.find((each) => each.type === 'applies');
  const shared = { organization, run: data.id, times: data.attributes['status-timestamps'] };
  const hasTasks = data.relationships['task-stages'].data.length > 0;
  const stage = { organization, run: data.id };
  return (
    <Stack>
      {hasTasks && <TaskStageCard {...stage} stage="pre_plan" />}
      {plan && <PhaseCard {...shared} title="Plan" phase={plan} />}
      {hasTasks && <TaskStageCard {...stage} stage="post_plan" />}
      {hasTasks && <PolicyStageCard {...stage} />}
      {hasTasks && <TaskStageCard {...stage} stage="pre_apply" />}
      {apply && !data.attributes['plan-only'] && <PhaseCard {...shared} title="Apply" phase={apply} />}
      {hasTasks && <TaskStageCard {...stage} stage="post_apply" />}
    </Stack>
  );
};

const History = ({ organization, document: { data } }: RunProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const comment = (
    <PermittedButton
      command="Comment on the run"
      size="compact-sm"
      variant="default"
      isPermitted={data.attributes.permissions['can-comment']}
      reason={NO_COMMENT}
      onClick={dialog.open}
    >
      Comment
    </PermittedButton>
  );
  return (
    <Card title="What happened" actions={comment}>
      <RunEvents organization={organization} run={data} />
      {isOpen && <CommentDialog organization={organization} run={data.id} onClose={dialog.close} />}
    </Card>
  );
};

const Run = (props: RunProps) => {
  const { organization, workspace, document } = props;
  return (
    <Stack>
      <Link to="/$organization/workspaces/$workspace/runs" params={{ organization, workspace }}>
        All runs
      </Link>
      <NextStep {...props} />
      <div className={classes['columns']}>
        <Phases organization={organization} document={document} />
        <Stack>
          <Card title="Details">
            <FactList facts={listFacts(organization, document)} />
          </Card>
          <CommitCard document={document} />
          <History {...props} />
        </Stack>
      </div>
    </Stack>
  );
};

/** Leads to the address of a run of another workspace. An address with the wrong workspace would hide what an apply changes. */
const OtherWorkspace = ({ document }: { readonly document: RunDocument }) => {
  const { id, relationships } = document.data;
  const workspace = findIncluded(document, relationships.workspace.data);
  if (!workspace) return <NotFoundState what="run" />;
  const organization = workspace.relationships.organization.data.id;
  const params = { organization, workspace: workspace.attributes.name, run: id };
  return <Navigate to="/$organization/workspaces/$workspace/runs/$run" params={params} replace />;
};

/** A run: its plan, what happened to it, and what the person may do. */
export const RunScreen = () => {
  const { organization, workspace, run } = useParams({ from: '/$organization/workspaces/$workspace/runs/$run' });
  const interval = usePollInterval(POLL_MS);
  const { data: parent } = useQuery(workspaceQuery(organization, workspace));
  const query = useQuery({
    ...runQuery(organization, run),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data.data.attributes.status) ? false : interval),
  });
  return (
    <QueryState query={query} what="run">
      {(document) =>
        document.data.relationships.workspace.data.id === parent?.data.id ? (
          <Run organization={organization} workspace={parent.data.attributes.name} document={document} />
        ) : (
          parent && <OtherWorkspace document={document} />
        )
      }
    </QueryState>
  );
};

import type { Principal } from '#platform/kernel';
import { can, type Identity } from '#api/access';
import { linkTo, toMany, toOne, type Relationship, type Resource } from '#api/json-api';
import { toApplyPhase, toPlanPhase, type PhaseName, type RunPhase } from './phases.js';
import { isActionAllowed, type RunStatus } from './run-status.js';
import { isForceCancelable } from './run-state.js';
import type { PlannedCounts, RunExecution } from './run-event.js';
import type { RunVariable } from './runs.variables.js';
import type { RunRow } from './runs.queries.js';

/** A run, its plan and its apply are one row; their ids differ in the prefix only. */
export const toPlanId = (run: string): string => run.replace(/^run-/, 'plan-');
export const toApplyId = (run: string): string => run.replace(/^run-/, 'apply-');
/** Returns an id that no run has if `id` lacks the prefix. */
export const toRunId = (id: string, prefix: PhaseName): string =>
  id.startsWith(`${prefix}-`) ? `run-${id.slice(prefix.length + 1)}` : '';

/** Timestamps whose name differs from their status. */
const NAMES: Partial<Readonly<Record<RunStatus, string>>> = {
  pending: 'plan-queueable-at',
  fetching_completed: 'fetched-at',
};

/** Returns the name of the time at which a run reached the status: `plan-queued-at`. */
export const nameTimestamp = (status: RunStatus): string => NAMES[status] ?? `${status.replaceAll('_', '-')}-at`;

const renderTimestamps = ({ reached }: RunRow): Record<string, string> =>
  Object.fromEntries(Object.entries(reached).map(([status, time]) => [nameTimestamp(status as RunStatus), time]));

const renderPermissions = (row: RunRow, actor: Identity): Record<string, boolean> => {
  const apply = can(actor, 'apply-run', row);
  return {
    'can-apply': apply,
    'can-cancel': apply,
    'can-comment': can(actor, 'comment-run', row),
    'can-discard': apply,
    'can-force-execute': apply,
    'can-force-cancel': can(actor, 'force-cancel-run', row),
    'can-override-policy-check': false,
  };
};

/** Returns why no executor takes the run, or null: clients and users see why it stays queued. */
const findWaitingReason = ({ hasNoPool, executionMode, agentPool }: RunRow): string | null => {
  if (!hasNoPool) return null;
  return executionMode === 'remote'
    ? 'No agent pool executes runs in remote mode for this workspace: an owner of the organization must set remote-runs-enabled on a pool whose scope includes the workspace, or use the executors of the site (site-executors-enabled)'
    : `Agent pool ${agentPool ?? ''} does not include this workspace in its scope: choose another pool, or change organization-scoped, allowed-workspaces or excluded-workspaces`;
};

/** Callers that may not read the runs of the source do not see its name. */
const findTriggeringSourceName = ({ triggeringSource }: RunRow, actor: Identity): string | null =>
  triggeringSource && can(actor, 'read-runs', triggeringSource) ? triggeringSource.name : null;

type RunRenderOptions = {
  readonly actor: Identity;
  readonly now: Date;
  /** With values; empty if the caller may not read them. */
  readonly variables: readonly RunVariable[];
};

/** Clients expect a user as the creator of a run; a team token counts as one. */
const toUserRelationship = (person: Principal | null) =>
  toOne('users', person?.id, `/api/v2/users/${person?.id ?? ''}`);

/** Decoders of clients skip null. */
const toNullIfEmpty = (texts: readonly string[]): readonly string[] | null => (texts.length > 0 ? texts : null);

const renderActions = (row: RunRow, now: Date): Record<string, boolean> => ({
  'is-cancelable': isActionAllowed(row.status, 'cancel') && row.cancelRequestedAt === null,
  'is-confirmable': isActionAllowed(row.status, 'apply'),
  'is-discardable': isActionAllowed(row.status, 'discard'),
  'is-force-cancelable': isForceCancelable(row, now.toISOString()),
});

const renderAttributes = (row: RunRow, { actor, now, variables }: RunRenderOptions): Record<string, unknown> => {
  const { options, status } = row;
  return {
    actions: renderActions(row, now),
    'allow-config-generation': options.allowConfigGeneration,
    'allow-empty-apply': options.allowEmptyApply,
    'auto-apply': options.autoApply,
    'canceled-at': row.cancelRequestedAt,
    'created-at': row.createdAt,
    'debugging-mode': options.debuggingMode,
    ...(row.forceCancelAvailableAt ? { 'force-cancel-available-at': row.forceCancelAvailableAt } : {}),
    'has-changes': row.hasChanges,
    'invoke-action-addrs': toNullIfEmpty(options.invokeActionAddrs),
    'is-destroy': options.isDestroy,
    message: row.message,
    permissions: renderPermissions(row, actor),
    'plan-only': options.planOnly,
    'policy-paths': toNullIfEmpty(options.policyPaths),
    'position-in-queue': row.position,
    refresh: options.refresh,
    'refresh-only': options.refreshOnly,
    'replace-addrs': toNullIfEmpty(options.replaceAddrs),
    'save-plan': options.savePlan,
    source: row.source,
    status,
    'status-timestamps': renderTimestamps(row),
    'target-addrs': toNullIfEmpty(options.targetAddrs),
    'terraform-version': options.terraformVersion,
    'trigger-reason': 'manual',
    'triggering-source-name': findTriggeringSourceName(row, actor),
    variables,
    'waiting-reason': findWaitingReason(row),
  };
};

const renderRelationships = (row: RunRow, self: string): Record<string, Relationship> => ({
  apply: toOne('applies', toApplyId(row.id), `${self}/apply`),
  comments: { ...toMany('comments', row.comments), ...linkTo(`${self}/comments`) },
  'configuration-version': toOne(
    'configuration-versions',
    row.configurationVersion,
    `/api/v2/configuration-versions/${row.configurationVersion}`,
  ),
  'confirmed-by': toUserRelationship(row.confirmedBy),
  'cost-estimate': { data: null },
  'created-by': toUserRelationship(row.createdBy),
  'input-state-version': { data: null },
  plan: toOne('plans', toPlanId(row.id), `${self}/plan`),
  'policy-checks': toMany('policy-checks', []),
  'run-events': { ...toMany('run-events', row.runEvents), ...linkTo(`${self}/run-events`) },
  'task-stages': toMany('task-stages', row.taskStages),
  'triggering-run': toOne('runs', row.options.triggeredBy?.run, `/api/v2/runs/${row.options.triggeredBy?.run ?? ''}`),
  'triggering-source': toOne(
    'workspaces',
    row.options.triggeredBy?.workspace,
    `/api/v2/workspaces/${row.options.triggeredBy?.workspace ?? ''}`,
  ),
  workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
  'workspace-run-alerts': toMany('workspace-run-alerts', []),
});

/** Renders a run. Every endpoint uses this function. */
export const renderRun = (row: RunRow, options: RunRenderOptions): Resource => {
  const self = `/api/v2/runs/${row.id}`;
  return {
    id: row.id,
    type: 'runs',
    attributes: renderAttributes(row, options),
    relationships: renderRelationships(row, self),
    links: { self },
  };
};

const NONE: PlannedCounts = { additions: 0, changes: 0, destructions: 0, imports: 0 };

/** Before an executor has claimed the phase, the pool is the one of the workspace. */
const renderExecutionDetails = ({ executionMode, agentPool }: RunRow, execution: RunExecution | null) => ({
  mode: executionMode,
  ...(execution
    ? { 'agent-id': execution.agent, 'agent-name': execution.agentName, 'agent-pool-id': execution.pool }
    : executionMode === 'agent'
      ? { 'agent-pool-id': agentPool }
      : {}),
});

type PhaseResults = {
  readonly counts: PlannedCounts | null;
  readonly execution: RunExecution | null;
  readonly logUrl: string;
};

const renderPhaseAttributes = (
  { status, timestamps }: RunPhase,
  { counts, execution, logUrl }: PhaseResults,
  row: RunRow,
) => {
  const { additions, changes, destructions, imports } = counts ?? NONE;
  const times = {
    'queued-at': timestamps.queued,
    'started-at': timestamps.started,
    'finished-at': timestamps.finished,
    'errored-at': timestamps.errored,
    'canceled-at': timestamps.canceled,
    'force-canceled-at': timestamps.forceCanceled,
  };
  return {
    'execution-details': renderExecutionDetails(row, execution),
    'log-read-url': logUrl,
    'resource-additions': additions,
    'resource-changes': changes,
    'resource-destructions': destructions,
    'resource-imports': imports,
    status,
    'status-timestamps': Object.fromEntries(Object.entries(times).filter(([, time]) => time !== undefined)),
  };
};

/** Returns the URL at which a caller reads the log of a plan or an apply, by its id. */
export type LogUrls = (phase: string) => string;

export const renderPlan = (row: RunRow, logUrlOf: LogUrls): Resource => {
  const id = toPlanId(row.id);
  return {
    id,
    type: 'plans',
    attributes: {
      ...renderPhaseAttributes(
        toPlanPhase(row.status, row.reached),
        { counts: row.planned, execution: row.planExecution, logUrl: logUrlOf(id) },
        row,
      ),
      'generated-configuration': row.hasGeneratedConfiguration,
      'has-changes': row.hasChanges,
      'structured-run-output-enabled': row.structuredRunOutput,
    },
    relationships: { exports: toMany('plan-exports', []), 'state-versions': toMany('state-versions', []) },
    links: { self: `/api/v2/plans/${id}`, 'json-output': `/api/v2/plans/${id}/json-output` },
  };
};

export const renderApply = (row: RunRow, logUrlOf: LogUrls): Resource => {
  const id = toApplyId(row.id);
  return {
    id,
    type: 'applies',
    attributes: renderPhaseAttributes(
      toApplyPhase(row.status, row.reached),
      { counts: row.applied, execution: row.applyExecution, logUrl: logUrlOf(id) },
      row,
    ),
    relationships: { 'state-versions': toMany('state-versions', []) },
    links: {
      self: `/api/v2/applies/${id}`,
      ...(row.erroredStateAt === null || row.dataDeletedAt !== null
        ? {}
        : { 'errored-state': `/api/v2/applies/${id}/errored-state` }),
    },
  };
};

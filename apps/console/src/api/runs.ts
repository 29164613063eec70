import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, type PageParameters } from './pages.js';
import { sendFile } from './send-file.js';
import { useChange } from './use-change.js';

export type ConsoleRun = ApiResource<'Run'>;
export type RunDocument = ApiResource<'RunDocumentWithIncluded'>;

const PAGE_SIZE = 50;
const LIST_INCLUDES = ['created_by', 'workspace', 'plan'] as const;
const DETAIL_INCLUDES = [
  'plan',
  'apply',
  'created_by',
  'confirmed_by',
  'workspace',
  'configuration_version.ingress_attributes',
] as const;

export const runsKey = (organization: string) => [...organizationKey(organization), 'runs'] as const;

/** The statuses of runs by what became of them, as the statistics of runs count them. */
export const RUN_RESULTS = {
  applied: ['applied'],
  'planned-and-finished': ['planned_and_finished'],
  failed: ['errored', 'policy_soft_failed'],
  stopped: ['discarded', 'canceled', 'force_canceled'],
  open: [],
} as const;

export type RunResultKey = keyof typeof RUN_RESULTS;

/** Filters of a list. The names are those in the address of the screens. */
export type RunSearch = {
  readonly group?: 'final' | 'non_final';
  /** A text in the message, the name of the creator or the id. */
  readonly q?: string;
  readonly result?: RunResultKey;
  /** When the runs were created: from, and before. */
  readonly since?: string;
  readonly before?: string;
  /** The name of a workspace. */
  readonly workspace?: string;
  /** Runs that wait for a decision: of the person, or of others. */
  readonly waits?: 'me' | 'others';
};

/** The numbers of resources that a plan changes, or an apply has changed. */
export type PlanTotals = {
  readonly added: number;
  readonly changed: number;
  readonly destroyed: number;
  readonly imported: number;
};

/** A row of a list of runs. */
export type RunListRow = {
  readonly id: string;
  readonly attributes: ConsoleRun['attributes'];
  readonly createdBy: string;
  readonly workspace: string;
  /** Null until there is a plan. */
  readonly plan: PlanTotals | null;
};

export type PhaseResource = ApiResource<'Plan'> | ApiResource<'Apply'>;

/** Returns what a finished plan or apply changes; null before its end. */
export const countResources = (phase: PhaseResource | null): PlanTotals | null =>
  phase?.attributes.status === 'finished'
    ? {
        added: phase.attributes['resource-additions'],
        changed: phase.attributes['resource-changes'],
        destroyed: phase.attributes['resource-destructions'],
        imported: phase.attributes['resource-imports'],
      }
    : null;

type RunPageParameters = ReturnType<typeof toParameters>;

const readWorkspaceRuns = (id: string, query: RunPageParameters, signal: AbortSignal) =>
  readDocument(api.GET('/api/v2/workspaces/{id}/runs', { params: { path: { id }, query }, signal }));

type RunPageDocument = Awaited<ReturnType<typeof readWorkspaceRuns>>;

const toRow = ({ id, attributes, relationships }: ConsoleRun, page: RunPageDocument): RunListRow => ({
  id,
  attributes,
  createdBy: findIncluded(page, relationships['created-by'].data)?.attributes.username ?? 'somebody',
  workspace: findIncluded(page, relationships.workspace.data)?.attributes.name ?? '',
  plan: countResources(findIncluded(page, relationships.plan.data)),
});

const toListPage = (page: RunPageDocument) => ({ data: page.data.map((run) => toRow(run, page)), meta: page.meta });

/** Runs that have not ended have no list of statuses, but a group. */
const toStatusFilter = (group: RunSearch['group'], result: RunResultKey | undefined) => {
  const groups = [...(group ? [group] : []), ...(result === 'open' ? (['non_final'] as const) : [])];
  const statuses = result ? RUN_RESULTS[result] : [];
  return {
    ...(groups.length > 0 ? { 'filter[status_group]': groups } : {}),
    ...(statuses.length > 0 ? { 'filter[status]': [...statuses] } : {}),
  };
};

const toParameters = ({ group, q, waits, result, since, before, workspace }: RunSearch, page: PageParameters) => ({
  ...page,
  'page[size]': PAGE_SIZE,
  include: [...LIST_INCLUDES],
  ...toStatusFilter(group, result),
  ...(since ? { 'filter[created-since]': since } : {}),
  ...(before ? { 'filter[created-before]': before } : {}),
  ...(workspace ? { 'filter[workspace_names]': [workspace] } : {}),
  ...(q ? { 'search[basic]': q } : {}),
  ...(waits ? { 'filter[waits-for]': waits } : {}),
});

/** The runs of a workspace, the newest first, page by page. */
export const workspaceRunsQuery = (organization: string, workspace: string) =>
  pagedQuery([...runsKey(organization), 'workspace', workspace], async (page, signal) =>
    toListPage(await readWorkspaceRuns(workspace, toParameters({}, page), signal)),
  );

/** The runs of the workspaces that the person may read, the newest first, page by page. */
export const organizationRunsQuery = (organization: string, search: RunSearch) =>
  pagedQuery([...runsKey(organization), 'organization', search], async (page, signal) => {
    const params = { path: { organization }, query: toParameters(search, page) };
    return toListPage(await readDocument(api.GET('/api/v2/organizations/{organization}/runs', { params, signal })));
  });

export const runQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...runsKey(organization), 'one', id],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { include: [...DETAIL_INCLUDES] } };
      return readDocument(api.GET('/api/v2/runs/{id}', { params, signal }));
    },
  });

/** The events of a run, the oldest first. */
export const runEventsQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...runsKey(organization), 'one', id, 'events'],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { include: ['actor' as const, 'comment' as const] } };
      return readDocument(api.GET('/api/v2/runs/{id}/run-events', { params, signal }));
    },
  });

export type ConsoleRunAction = 'apply' | 'discard' | 'cancel' | 'force-cancel' | 'force-execute';

const PATHS = {
  apply: '/api/v2/runs/{id}/actions/apply',
  discard: '/api/v2/runs/{id}/actions/discard',
  cancel: '/api/v2/runs/{id}/actions/cancel',
  'force-cancel': '/api/v2/runs/{id}/actions/force-cancel',
  'force-execute': '/api/v2/runs/{id}/actions/force-execute',
} as const;

/** Confirms, discards or cancels a run, with a comment if there is one. */
export const useChangeRun = (organization: string, id: string) =>
  useChange({
    mutationFn: ({ action, comment }: { readonly action: ConsoleRunAction; readonly comment: string }) =>
      requireSuccess(
        api.POST(PATHS[action], { params: { path: { id } }, ...(comment === '' ? {} : { body: { comment } }) }),
      ),
    // The lists of workspaces and the workspace itself show the run too.
    rereads: organizationKey(organization),
  });

/** Adds a comment to a run. */
export const useCommentRun = (organization: string, id: string) =>
  useChange({
    mutationFn: (body: string) => {
      const document = { data: { type: 'comments' as const, attributes: { body } } };
      return requireSuccess(api.POST('/api/v2/runs/{id}/comments', { params: { path: { id } }, body: document }));
    },
    rereads: runsKey(organization),
  });

export type ConfigurationVersion = ApiResource<'ConfigurationVersion'>;
const MAX_CONFIGURATIONS = 100;

/** The last configuration versions of a workspace, the newest first. */
export const configurationVersionsQuery = (organization: string, workspace: string) =>
  queryOptions({
    queryKey: [...runsKey(organization), 'configurations', workspace],
    queryFn: ({ signal }) => {
      const params = { path: { id: workspace }, query: { 'page[size]': MAX_CONFIGURATIONS } };
      return readData(api.GET('/api/v2/workspaces/{id}/configuration-versions', { params, signal }));
    },
  });

/** Uploads an archive as the current configuration of a workspace, without a run. */
export const useUploadConfiguration = (organization: string, workspace: string) =>
  useChange({
    mutationFn: async (archive: File) => {
      const path = '/api/v2/workspaces/{id}/configuration-versions';
      const body = { data: { type: 'configuration-versions' as const, attributes: { 'auto-queue-runs': false } } };
      const { attributes } = await readData(api.POST(path, { params: { path: { id: workspace } }, body }));
      await sendFile(attributes['upload-url'] ?? '', archive);
    },
    rereads: runsKey(organization),
  });

export type NewRunAttributes = RequestResource<'createRun'>['attributes'];
type QueuedRun = {
  readonly attributes: NewRunAttributes;
  /** Empty for the current one. */
  readonly configuration: string;
};

/** Queues a run of a workspace. */
export const useCreateRun = (organization: string, workspace: string) =>
  useChange({
    mutationFn: ({ attributes, configuration }: QueuedRun) => {
      const relationships = {
        workspace: { data: { type: 'workspaces' as const, id: workspace } },
        ...(configuration === ''
          ? {}
          : { 'configuration-version': { data: { type: 'configuration-versions' as const, id: configuration } } }),
      };
      return readData(api.POST('/api/v2/runs', { body: { data: { type: 'runs', attributes, relationships } } }));
    },
    // The workspace and the lists of workspaces show the run and its lock too.
    rereads: organizationKey(organization),
  });

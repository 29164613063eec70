import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, type PageParameters } from './pages.js';
import { useChange } from './use-change.js';

export type ConsoleRun = ApiResource<'Run'>;
export type RunDocument = ApiResource<'RunDocumentWithIncluded'>;
type RunPageDocument = ApiResource<'RunPageWithIncluded'>;

const PAGE_SIZE = 50;
const LIST_INCLUDES = ['created_by', 'workspace', 'plan'] as const;
const DETAIL_INCLUDES = ['plan', 'apply', 'created_by', 'confirmed_by', 'workspace'] as const;

const runsKey = (organization: string) => [...organizationKey(organization), 'runs'] as const;

/** Filters of a list. The names are those in the address of the screens. */
export type RunSearch = {
  readonly group?: 'final' | 'non_final';
  /** A text in the message, the name of the creator or the id. */
  readonly q?: string;
};

/** A row of a list of runs. */
export type RunListRow = {
  readonly id: string;
  readonly message: string;
  readonly status: ConsoleRun['attributes']['status'];
  readonly createdAt: string;
  readonly createdBy: string;
  readonly workspace: string;
  /** Resources to add, change and destroy; null until there is a plan. */
  readonly plan: readonly [number, number, number] | null;
};

const toRow = ({ id, attributes, relationships }: ConsoleRun, page: RunPageDocument): RunListRow => {
  const plan = findIncluded(page, relationships.plan.data)?.attributes;
  return {
    id,
    message: attributes.message,
    status: attributes.status,
    createdAt: attributes['created-at'],
    createdBy: findIncluded(page, relationships['created-by'].data)?.attributes.username ?? 'somebody',
    workspace: findIncluded(page, relationships.workspace.data)?.attributes.name ?? '',
    plan:
      plan?.status === 'finished'
        ? [plan['resource-additions'], plan['resource-changes'], plan['resource-destructions']]
        : null,
  };
};

const toListPage = (page: RunPageDocument) => ({ data: page.data.map((run) => toRow(run, page)), meta: page.meta });

const toParameters = ({ group, q }: RunSearch, page: PageParameters) => ({
  ...page,
  'page[size]': PAGE_SIZE,
  include: [...LIST_INCLUDES],
  ...(group ? { 'filter[status_group]': [group] } : {}),
  ...(q ? { 'search[basic]': q } : {}),
});

/** The runs of a workspace, the newest first, page by page. */
export const workspaceRunsQuery = (organization: string, workspace: string) =>
  pagedQuery([...runsKey(organization), 'workspace', workspace], async (page, signal) => {
    const params = { path: { id: workspace }, query: toParameters({}, page) };
    return toListPage(await readDocument(api.GET('/api/v2/workspaces/{id}/runs', { params, signal })));
  });

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

export type ConsoleRunAction = 'apply' | 'discard' | 'cancel' | 'force-cancel';

const PATHS = {
  apply: '/api/v2/runs/{id}/actions/apply',
  discard: '/api/v2/runs/{id}/actions/discard',
  cancel: '/api/v2/runs/{id}/actions/cancel',
  'force-cancel': '/api/v2/runs/{id}/actions/force-cancel',
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

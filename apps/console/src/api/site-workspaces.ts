import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

type RunStatusOfWorkspace = ApiResource<'Run'>['attributes']['status'];

/** The filters by the current run, by their name in the address. */
export const SITE_WORKSPACE_FILTERS = {
  failed: ['errored', 'policy_soft_failed'],
  decisions: ['planned', 'cost_estimated', 'policy_checked', 'policy_override', 'post_plan_awaiting_decision'],
  active: ['pending', 'plan_queued', 'planning', 'apply_queued', 'applying'],
} as const satisfies Readonly<Record<string, readonly RunStatusOfWorkspace[]>>;

export type SiteWorkspaceSearch = { readonly name?: string; readonly runs?: keyof typeof SITE_WORKSPACE_FILTERS };

export type SiteWorkspace = {
  readonly id: string;
  readonly attributes: ApiResource<'AdministeredWorkspace'>['attributes'];
  readonly organization: string;
  /** The current run, or the last one; null without runs. */
  readonly run: ApiResource<'Run'> | null;
};

const SITE_WORKSPACES_KEY = ['site-workspaces'] as const;

/** The workspaces of all organizations by name, page by page. */
export const siteWorkspacesQuery = ({ name, runs }: SiteWorkspaceSearch) =>
  pagedQuery([...SITE_WORKSPACES_KEY, name, runs], async (page, signal) => {
    const query = {
      ...page,
      include: ['current_run' as const],
      ...(name ? { q: name } : {}),
      ...(runs ? { 'filter[current_run][status]': [...SITE_WORKSPACE_FILTERS[runs]] } : {}),
    };
    const document = await readDocument(api.GET('/api/v2/admin/workspaces', { params: { query }, signal }));
    const data = document.data.map(({ id, attributes, relationships }): SiteWorkspace => ({
      id,
      attributes,
      organization: relationships.organization.data.id,
      run: findIncluded(document, relationships['current-run'].data) ?? null,
    }));
    return { data, meta: document.meta };
  });

/** Deletes a workspace of any organization, even if it is locked or manages resources. */
export const useDeleteSiteWorkspace = () =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/admin/workspaces/{id}', { params: { path: { id } } })),
    rereads: SITE_WORKSPACES_KEY,
  });

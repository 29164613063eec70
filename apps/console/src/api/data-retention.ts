import { queryOptions } from '@tanstack/react-query';
import { ApiError, readData, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { useChange } from './use-change.js';
import { workspaceKey, type Workspace } from './workspaces.js';

const PATH = '/api/v2/workspaces/{id}/relationships/data-retention-policy';

/** A policy. `days`: the age after which data is deleted, or null if nothing is. */
type RetentionPolicy = { readonly days: number | null; readonly isOwn: boolean };

const retentionKey = (organization: string, { attributes }: Workspace) =>
  [...workspaceKey(organization, attributes.name), 'retention'] as const;

/** The effective policy of a workspace: its own, or the one of its organization. Null: there is none. */
export const workspaceRetentionQuery = (organization: string, workspace: Workspace) =>
  queryOptions({
    queryKey: retentionKey(organization, workspace),
    queryFn: async ({ signal }): Promise<RetentionPolicy | null> => {
      try {
        const policy = await readData(api.GET(PATH, { params: { path: { id: workspace.id } }, signal }));
        const days =
          'delete-older-than-n-days' in policy.attributes ? policy.attributes['delete-older-than-n-days'] : null;
        return { days, isOwn: policy.relationships.target.data.type === 'workspaces' };
      } catch (error) {
        if (error instanceof ApiError && error.isNotFound) return null;
        throw error;
      }
    },
  });

/** `inherited`: the policy of the organization. */
export type RetentionRule = 'inherited' | 'keep' | 'delete';

type RetentionChange = { readonly rule: RetentionRule; readonly days: number | null };

export const useChangeRetention = (organization: string, workspace: Workspace) =>
  useChange({
    mutationFn: ({ rule, days }: RetentionChange) => {
      const params = { path: { id: workspace.id } };
      if (rule === 'inherited') return requireSuccess(api.DELETE(PATH, { params }));
      const data =
        rule === 'keep'
          ? { type: 'data-retention-policy-dont-deletes' as const }
          : {
              type: 'data-retention-policy-delete-olders' as const,
              attributes: { 'delete-older-than-n-days': days },
            };
      return requireSuccess(api.POST(PATH, { params, body: { data } }));
    },
    rereads: workspaceKey(organization, workspace.attributes.name),
  });

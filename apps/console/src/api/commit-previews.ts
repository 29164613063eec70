import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';

/** The settings that decide which commits start runs. */
export type TriggerInput = NonNullable<RequestResource<'createCommitPreview'>['attributes']>;

export type CommitOfPreview = ApiResource<'CommitPreview'>['attributes']['commits'][number];

/** Which of the newest commits start runs with these triggers. The Git host answers, and nothing changes. */
export const commitPreviewQuery = (workspace: string, triggers: TriggerInput) =>
  queryOptions({
    queryKey: ['commit-previews', workspace, triggers],
    queryFn: async ({ signal }): Promise<readonly CommitOfPreview[]> => {
      const body = { data: { type: 'commit-previews' as const, attributes: triggers } };
      const path = '/api/v2/workspaces/{id}/commit-previews';
      return (await readData(api.POST(path, { params: { path: { id: workspace } }, body, signal }))).attributes.commits;
    },
    // The answer of a Git host that refuses the token stays the same, and each request costs requests to the Git host.
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

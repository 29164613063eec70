import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, readAllPages } from './pages.js';
import { useChange } from './use-change.js';

export type ConsolePolicySet = ApiResource<'PolicySet'>;
type NewPolicySet = RequestResource<'createPolicySet'>;
type ChangedPolicySet = RequestResource<'updatePolicySet'>;

const TYPE = 'policy-sets';
const SETS = '/api/v2/organizations/{organization}/policy-sets';
const SET = '/api/v2/policy-sets/{id}';

const policySetsKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** The policy sets of an organization, page by page. */
export const policySetsQuery = (organization: string) =>
  pagedQuery([...policySetsKey(organization), 'list'], (page, signal) =>
    readDocument(api.GET(SETS, { params: { path: { organization }, query: page }, signal })),
  );

/** The policy sets that apply to a workspace. */
export const workspacePolicySetsQuery = (organization: string, workspace: string) =>
  queryOptions({
    queryKey: [...policySetsKey(organization), 'of-workspace', workspace],
    queryFn: async ({ signal }): Promise<readonly ConsolePolicySet[]> => {
      const pages = await readAllPages((page) => {
        const query = { ...page, 'filter[workspace][id]': workspace };
        return readDocument(api.GET(SETS, { params: { path: { organization }, query }, signal }));
      });
      return pages.flatMap(({ data }) => data);
    },
  });

export const useCreatePolicySet = (organization: string) =>
  useChange({
    mutationFn: (data: Pick<NewPolicySet, 'attributes' | 'relationships'>) =>
      requireSuccess(api.POST(SETS, { params: { path: { organization } }, body: { data: { ...data, type: TYPE } } })),
    // The policies count their sets.
    rereads: organizationKey(organization),
  });

export const useUpdatePolicySet = (organization: string, id: string) =>
  useChange({
    mutationFn: (data: Pick<ChangedPolicySet, 'attributes' | 'relationships'>) =>
      requireSuccess(api.PATCH(SET, { params: { path: { id } }, body: { data: { ...data, type: TYPE } } })),
    rereads: organizationKey(organization),
  });

export const useDeletePolicySet = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE(SET, { params: { path: { id } } })),
    rereads: organizationKey(organization),
  });

import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type WorkloadIdentity = ApiResource<'WorkloadIdentity'>;
export type WorkloadIdentityInput = RequestResource<'createWorkloadIdentity'>['attributes'];

const TYPE = 'workload-identities';
const OF_TEAM = '/api/v2/teams/{id}/workload-identities';
const ONE = '/api/v2/workload-identities/{id}';

const identitiesKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** The workload identities of a team, page by page. */
export const workloadIdentitiesQuery = (organization: string, team: string) =>
  pagedQuery([...identitiesKey(organization), team], (page, signal) =>
    readDocument(api.GET(OF_TEAM, { params: { path: { id: team }, query: page }, signal })),
  );

export const useCreateWorkloadIdentity = (organization: string, team: string) =>
  useChange({
    mutationFn: (attributes: WorkloadIdentityInput) =>
      readData(api.POST(OF_TEAM, { params: { path: { id: team } }, body: { data: { type: TYPE, attributes } } })),
    rereads: identitiesKey(organization),
  });

type IdentityChange = { readonly id: string; readonly attributes: Partial<WorkloadIdentityInput> };

/** Changes an identity. If it becomes disabled, the tokens that it has issued end. */
export const useChangeWorkloadIdentity = (organization: string) =>
  useChange({
    mutationFn: ({ id, attributes }: IdentityChange) =>
      readData(api.PATCH(ONE, { params: { path: { id } }, body: { data: { type: TYPE, attributes } } })),
    rereads: organizationKey(organization),
  });

export const useDeleteWorkloadIdentity = (organization: string) =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE(ONE, { params: { path: { id } } })),
    rereads: organizationKey(organization),
  });

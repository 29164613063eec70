import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type ToolVersion = ApiResource<'TerraformVersion'>;

const VERSIONS_KEY = ['tool-versions'] as const;
const VERSIONS = '/api/v2/admin/terraform-versions';
const TYPE = 'terraform-versions' as const;

/** The releases of Terraform and OpenTofu that workspaces may choose, the newest first. */
export const toolVersionsQuery = (search: string) =>
  pagedQuery([...VERSIONS_KEY, search], (page, signal) => {
    const query = { ...page, ...(search === '' ? {} : { 'search[version]': search }) };
    return readDocument(api.GET(VERSIONS, { params: { query }, signal }));
  });

export const useAddToolVersion = () =>
  useChange({
    mutationFn: (attributes: RequestResource<'createTerraformVersion'>['attributes']) =>
      readDocument(api.POST(VERSIONS, { body: { data: { type: TYPE, attributes } } })),
    rereads: VERSIONS_KEY,
  });

type ChangedVersion = {
  readonly id: string;
  readonly attributes: NonNullable<RequestResource<'updateTerraformVersion'>['attributes']>;
};

export const useChangeToolVersion = () =>
  useChange({
    mutationFn: ({ id, attributes }: ChangedVersion) =>
      readDocument(
        api.PATCH(`${VERSIONS}/{id}`, { params: { path: { id } }, body: { data: { type: TYPE, attributes } } }),
      ),
    rereads: VERSIONS_KEY,
  });

export const useDeleteToolVersion = () =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE(`${VERSIONS}/{id}`, { params: { path: { id } } })),
    rereads: VERSIONS_KEY,
  });

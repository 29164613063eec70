import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type ToolVersion = ApiResource<'TerraformVersion'> | ApiResource<'OpaVersion'>;

/** The JSON:API type of the releases of a program. */
export type ListedVersionType = ToolVersion['type'];

/** Returns the type of the versions that an address shows. */
export const toVersionType = (program: 'opa' | undefined): ListedVersionType =>
  program === 'opa' ? 'opa-versions' : 'terraform-versions';

const VERSIONS_KEY = ['tool-versions'] as const;
const TERRAFORM = '/api/v2/admin/terraform-versions';
const OPA = '/api/v2/admin/opa-versions';

/** The releases of Terraform and OpenTofu, or of OPA, the newest first. */
export const toolVersionsQuery = (type: ListedVersionType, search: string) =>
  pagedQuery([...VERSIONS_KEY, type, search], async (page, signal) => {
    const query = { ...page, ...(search === '' ? {} : { 'search[version]': search }) };
    const init = { params: { query }, signal };
    const document =
      type === 'opa-versions' ? await readDocument(api.GET(OPA, init)) : await readDocument(api.GET(TERRAFORM, init));
    const data: readonly ToolVersion[] = document.data;
    return { data, meta: document.meta };
  });

type AddedVersion = {
  readonly type: ListedVersionType;
  readonly attributes: RequestResource<'createTerraformVersion'>['attributes'];
};

export const useAddToolVersion = () =>
  useChange({
    mutationFn: ({ type, attributes }: AddedVersion): Promise<unknown> =>
      type === 'opa-versions'
        ? readDocument(api.POST(OPA, { body: { data: { type, attributes } } }))
        : readDocument(api.POST(TERRAFORM, { body: { data: { type, attributes } } })),
    rereads: VERSIONS_KEY,
  });

type ChangedVersion = {
  readonly version: ToolVersion;
  readonly attributes: NonNullable<RequestResource<'updateTerraformVersion'>['attributes']>;
};

export const useChangeToolVersion = () =>
  useChange({
    mutationFn: ({ version: { id, type }, attributes }: ChangedVersion): Promise<unknown> => {
      const params = { path: { id } };
      return type === 'opa-versions'
        ? readDocument(api.PATCH(`${OPA}/{id}`, { params, body: { data: { type, attributes } } }))
        : readDocument(api.PATCH(`${TERRAFORM}/{id}`, { params, body: { data: { type, attributes } } }));
    },
    rereads: VERSIONS_KEY,
  });

export const useDeleteToolVersion = () =>
  useChange({
    mutationFn: ({ id, type }: ToolVersion) => {
      const params = { path: { id } };
      return requireSuccess(
        type === 'opa-versions' ? api.DELETE(`${OPA}/{id}`, { params }) : api.DELETE(`${TERRAFORM}/{id}`, { params }),
      );
    },
    rereads: VERSIONS_KEY,
  });

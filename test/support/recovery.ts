import { expectStatus, resource } from './seeds.js';
import type { ApiResponse, ApiTestClient } from './server.js';

/** Recovers a deleted resource, under another name if there is one. */
export const recoverItem = (api: ApiTestClient, id: string, name?: string): Promise<ApiResponse> =>
  api.post(
    `/api/v2/recoverable-items/${id}/actions/recover`,
    name === undefined ? undefined : resource('recoverable-items', { name }),
  );

export const purgeItem = (api: ApiTestClient, id: string): Promise<ApiResponse> =>
  api.delete(`/api/v2/recoverable-items/${id}`);

/** Returns the deleted resources of the organization that the caller may recover. */
export const listRecoverable = async (api: ApiTestClient, organization: string): Promise<ApiResponse['body'][]> =>
  expectStatus(await api.get(`/api/v2/organizations/${organization}/recoverable-items?page[size]=100`), 200).body.data;

import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeWorkspace,
  type SeededOrganization,
} from './seeds.js';
import type { ApiTestClient } from './server.js';

/** An organization with a workspace, and a client that reads its audit trail. */
export type AuditedOrganization = SeededOrganization & {
  readonly workspace: string;
  readonly token: string;
  readonly reader: ApiTestClient;
};

export const createAuditedOrganization = async (api: ApiTestClient, name: string): Promise<AuditedOrganization> => {
  const organization = await makeOrganization(api, name);
  const workspace = await makeWorkspace(api, name, 'cellar');
  const token = await makeOrganizationToken(api, name);
  return { ...organization, workspace, token, reader: api.as(token) };
};

/** Locks or unlocks. Adds one entry to the trail. */
export const act = async (api: ApiTestClient, workspace: string, action: 'lock' | 'unlock'): Promise<void> => {
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/${action}`, {}), 200);
};

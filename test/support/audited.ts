import { answered, makeOrganization, makeOrganizationToken, makeWorkspace, type SeededOrganization } from './seeds.js';
import type { Api } from './server.js';

/** An organization with a workspace in which things happen, and who reads its trail, with their token. */
export type Audited = SeededOrganization & {
  readonly workspace: string;
  readonly token: string;
  readonly reader: Api;
};

export const makeAudited = async (api: Api, name: string): Promise<Audited> => {
  const organization = await makeOrganization(api, name);
  const workspace = await makeWorkspace(api, name, 'cellar');
  const token = await makeOrganizationToken(api, name);
  return { ...organization, workspace, token, reader: api.as(token) };
};

/** One entry. */
export const act = async (api: Api, workspace: string, action: 'lock' | 'unlock'): Promise<void> => {
  answered(await api.post(`/api/v2/workspaces/${workspace}/actions/${action}`, {}), 200);
};

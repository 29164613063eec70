import { expectStatus, resource } from './seeds.js';
import type { ApiTestClient } from './server.js';

/**
 * Returns a new token for SCIM, of this identity provider if there is one. `api` must be an administrator of the site.
 */
export const makeScimToken = async (api: ApiTestClient, provider?: string): Promise<string> => {
  const body = resource('authentication-tokens', { description: 'identity provider' });
  const of = provider === undefined ? '' : `identity-providers/${provider}/`;
  const { attributes } = expectStatus(await api.post(`/api/v2/admin/${of}scim-tokens`, body), 201).body.data;
  return attributes.token as string;
};

/** Returns a client with a new token for SCIM. `api` must be an administrator of the site. */
export const makeScimClient = async (api: ApiTestClient, provider?: string): Promise<ApiTestClient> =>
  api.as(await makeScimToken(api, provider));

/** A user or a group of SCIM in a response. */
type ScimTestResource = { readonly id: string } & Readonly<Record<string, any>>;

export const createScimUser = async (
  scim: ApiTestClient,
  userName: string,
  attributes: object = {},
): Promise<ScimTestResource> =>
  expectStatus(await scim.post('/scim/v2/Users', { userName, ...attributes }), 201).body as ScimTestResource;

export const createScimGroup = async (
  scim: ApiTestClient,
  displayName: string,
  members: readonly string[] = [],
): Promise<ScimTestResource> => {
  const body = { displayName, members: members.map((value) => ({ value })) };
  return expectStatus(await scim.post('/scim/v2/Groups', body), 201).body as ScimTestResource;
};

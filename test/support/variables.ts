import { sql } from '#platform/kernel';
import { Vault } from '#storage/vault';
import { expectStatus, makeTeam, makeToken, resource } from './seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from './server.js';

/** Returns the body that creates a variable. */
export const createVariableBody = (attributes: object = {}): object =>
  resource('vars', { key: 'region', value: 'eu', category: 'terraform', ...attributes });

export const patchVariableBody = (attributes: object): object => resource('vars', attributes);

/** Creates a variable at a path such as `/api/v2/workspaces/ws-…/vars`. Returns its document. */
export const makeVariable = async (api: ApiTestClient, path: string, attributes: object = {}): Promise<any> =>
  expectStatus(await api.post(path, createVariableBody(attributes)), 201).body.data;

export const makeSet = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
  relationships: object = {},
): Promise<any> => {
  const body = resource('varsets', { name, ...attributes }, relationships);
  return expectStatus(await api.post(`/api/v2/organizations/${organization}/varsets`, body), 201).body.data;
};

export const identifiers = (type: string, ...ids: readonly string[]): { data: object[] } => ({
  data: ids.map((id) => ({ type, id })),
});

/** Creates a team with this access to a workspace or a project. Returns a client with the token of the team. */
export const teamWith = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  on: { workspace: string } | { project: string },
  attributes: object,
): Promise<ApiTestClient> => {
  const team = await makeTeam(api, organization, name);
  const [kind] = Object.keys(on) as ['workspace' | 'project'];
  const id = Object.values(on)[0] as string;
  const body = resource(`team-${kind}s`, attributes, {
    team: { data: { type: 'teams', id: team } },
    [kind]: { data: { type: `${kind}s`, id } },
  });
  expectStatus(await api.post(`/api/v2/team-${kind}s`, body), 201);
  return api.as(await makeToken(api, `/api/v2/teams/${team}/authentication-token`));
};

/** Returns custom access to a workspace with these fields. The other fields have the lowest values. */
export const customAccess = (fields: object): object => ({
  access: 'custom',
  runs: 'read',
  variables: 'none',
  'state-versions': 'none',
  'sentinel-mocks': 'none',
  ...fields,
});

/** Returns the vault of the test server. */
export const vaultOf = ({ database, runtime }: TestServer): Vault => new Vault(database, runtime.encryptionKeys);

export const secretsOf = async ({ database }: TestServer, organization: string): Promise<string[]> =>
  (
    await database.rows<{ id: string }>(
      sql`select id from vault.secrets where organization = ${organization} order by id`,
    )
  ).map(({ id }) => id);

export const keysIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: any) => attributes.key as string);
export const namesIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: any) => attributes.name as string);
export const idsIn = (list: { data: { id: string }[] }): string[] => list.data.map(({ id }) => id);

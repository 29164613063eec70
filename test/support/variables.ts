import { sql } from '#kernel';
import { Vault } from '#vault';
import { answered, makeTeam, makeToken, resource } from './seeds.js';
import type { Answer, Api, TestServer } from './server.js';

/** The body of a request for a variable. */
export const aVariable = (attributes: object = {}): object =>
  resource('vars', { key: 'region', value: 'eu', category: 'terraform', ...attributes });

export const changed = (attributes: object): object => resource('vars', attributes);

/** A new variable at a path such as `/api/v2/workspaces/ws-…/vars`. */
export const makeVariable = async (api: Api, path: string, attributes: object = {}): Promise<any> =>
  answered(await api.post(path, aVariable(attributes)), 201).body.data;

export const makeSet = async (
  api: Api,
  organization: string,
  name: string,
  attributes: object = {},
  relationships: object = {},
): Promise<any> => {
  const body = resource('varsets', { name, ...attributes }, relationships);
  return answered(await api.post(`/api/v2/organizations/${organization}/varsets`, body), 201).body.data;
};

export const identifiers = (type: string, ...ids: readonly string[]): { data: object[] } => ({
  data: ids.map((id) => ({ type, id })),
});

/** Whoever holds the token of a new team with this access to a workspace or a project. */
export const teamWith = async (
  api: Api,
  organization: string,
  name: string,
  on: { workspace: string } | { project: string },
  attributes: object,
): Promise<Api> => {
  const team = await makeTeam(api, organization, name);
  const [kind] = Object.keys(on) as ['workspace' | 'project'];
  const id = Object.values(on)[0] as string;
  const body = resource(`team-${kind}s`, attributes, {
    team: { data: { type: 'teams', id: team } },
    [kind]: { data: { type: `${kind}s`, id } },
  });
  answered(await api.post(`/api/v2/team-${kind}s`, body), 201);
  return api.as(await makeToken(api, `/api/v2/teams/${team}/authentication-token`));
};

/** Custom access to a workspace, with nothing that is not named. */
export const customAccess = (fields: object): object => ({
  access: 'custom',
  runs: 'read',
  variables: 'none',
  'state-versions': 'none',
  'sentinel-mocks': 'none',
  ...fields,
});

/** The vault of the test server, opened from outside. */
export const vaultOf = ({ database, house }: TestServer): Vault => new Vault(database, house.encryptionKey);

export const secretsOf = async ({ database }: TestServer, organization: string): Promise<string[]> =>
  (
    await database.rows<{ id: string }>(
      sql`select id from vault.secrets where organization = ${organization} order by id`,
    )
  ).map(({ id }) => id);

export const keysIn = ({ body }: Answer): string[] => body.data.map(({ attributes }: any) => attributes.key as string);
export const namesIn = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: any) => attributes.name as string);
export const idsIn = (list: { data: { id: string }[] }): string[] => list.data.map(({ id }) => id);

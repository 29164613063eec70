import {
  makeVersion,
  pathOfProvider,
  pathOfProviders,
  pathOfVersions,
  providerBody,
  publishVersion,
} from './registry.js';
import type { Signer } from './releases.js';
import { bindTags, expectStatus, grantProjectAccess, grantWorkspaceAccess, resource, tagBindings } from './seeds.js';
import type { ApiResponse, ApiTestClient } from './server.js';
import { newStateVersion, stateFile } from './state-file.js';
import { identifiers, makeSet, makeVariable } from './variables.js';

/** The organization of the resources, and what their contents refer to. */
export type RecoverableContext = {
  readonly organization: string;
  readonly defaultProject: string;
  /** The team that gets access to workspaces and projects. */
  readonly team: string;
  /** The key that signs versions of providers. The registry must have it. */
  readonly signer: Signer;
};

/** A resource by its id and its name, because the paths of providers contain the name. */
export type RecoverableTestItem = { readonly id: string; readonly name: string };

/** What tests do with one kind of resource that can be recovered. */
export type RecoverableTestKind = {
  readonly kind: 'workspaces' | 'projects' | 'varsets' | 'registry-providers';
  /** The beginning of the types of its events. */
  readonly events: string;
  /** Creates an empty one. */
  readonly create: (api: ApiTestClient, context: RecoverableContext, name: string) => Promise<ApiResponse>;
  /** Gives it everything that comes back with it. */
  readonly fill: (api: ApiTestClient, context: RecoverableContext, item: RecoverableTestItem) => Promise<void>;
  /** The path of `GET` and `DELETE`. */
  readonly pathOf: (context: RecoverableContext, item: RecoverableTestItem) => string;
  /** Whether its name can change. */
  readonly isRenamable: boolean;
  /** Returns its contents, but for names of people. */
  readonly listContents: (
    api: ApiTestClient,
    context: RecoverableContext,
    item: RecoverableTestItem,
  ) => Promise<unknown>;
};

const read = async (api: ApiTestClient, path: string): Promise<any> => expectStatus(await api.get(path), 200).body.data;

const secret = { key: 'PASSWORD', category: 'env', value: 'hunter2', sensitive: true };

/** Returns keys and values: bindings also say who has set them. */
const readTags = async (api: ApiTestClient, path: string): Promise<unknown> =>
  (await read(api, `${path}/tag-bindings`)).map(({ id, attributes: { key, value } }: any) => ({ id, key, value }));

const workspaces: RecoverableTestKind = {
  kind: 'workspaces',
  events: 'Workspace',
  isRenamable: true,
  create: (api, { organization }, name) =>
    api.post(`/api/v2/organizations/${organization}/workspaces`, resource('workspaces', { name, description: 'Net' })),
  fill: async (api, { team }, { id }) => {
    const path = `/api/v2/workspaces/${id}`;
    await bindTags(api, `workspaces/${id}`, { env: 'prod' });
    await makeVariable(api, `${path}/vars`, secret);
    await grantWorkspaceAccess(api, team, id, 'read');
    expectStatus(await api.post(`${path}/actions/lock`), 200);
    const state = newStateVersion(stateFile({ lineage: id }), { inline: true });
    expectStatus(await api.post(`${path}/state-versions`, state), 201);
    expectStatus(await api.post(`${path}/actions/unlock`), 200);
  },
  pathOf: (_, { id }) => `/api/v2/workspaces/${id}`,
  listContents: async (api, _, { id }) => {
    const { attributes } = await read(api, `/api/v2/workspaces/${id}/current-state-version`);
    return {
      tags: await readTags(api, `/api/v2/workspaces/${id}`),
      variables: await read(api, `/api/v2/workspaces/${id}/vars`),
      access: await read(api, `/api/v2/team-workspaces?filter[workspace][id]=${id}`),
      state: [attributes.serial, attributes.md5, attributes.status],
    };
  },
};

const projects: RecoverableTestKind = {
  kind: 'projects',
  events: 'Project',
  isRenamable: true,
  create: (api, { organization }, name) =>
    api.post(`/api/v2/organizations/${organization}/projects`, resource('projects', { name, description: 'Net' })),
  fill: async (api, { organization, team }, { id }) => {
    await bindTags(api, `projects/${id}`, { env: 'prod' });
    await grantProjectAccess(api, team, id, 'maintain');
    const parent = { parent: { data: { type: 'projects', id } } };
    const { id: set } = await makeSet(api, organization, `set of ${id}`, {}, parent);
    await makeVariable(api, `/api/v2/varsets/${set}/relationships/vars`, secret);
  },
  pathOf: (_, { id }) => `/api/v2/projects/${id}`,
  listContents: async (api, _, { id }) => ({
    tags: await readTags(api, `/api/v2/projects/${id}`),
    access: await read(api, `/api/v2/team-projects?filter[project][id]=${id}`),
    sets: await read(api, `/api/v2/projects/${id}/varsets`),
  }),
};

const variableSets: RecoverableTestKind = {
  kind: 'varsets',
  events: 'VariableSet',
  isRenamable: true,
  create: (api, { organization, defaultProject }, name) =>
    api.post(
      `/api/v2/organizations/${organization}/varsets`,
      resource('varsets', { name, description: 'Net' }, { projects: identifiers('projects', defaultProject) }),
    ),
  fill: async (api, _, { id }) => {
    await makeVariable(api, `/api/v2/varsets/${id}/relationships/vars`, secret);
    await makeVariable(api, `/api/v2/varsets/${id}/relationships/vars`, { key: 'REGION', category: 'env' });
  },
  pathOf: (_, { id }) => `/api/v2/varsets/${id}`,
  listContents: (api, _, { id }) => read(api, `/api/v2/varsets/${id}/relationships/vars`),
};

const providers: RecoverableTestKind = {
  kind: 'registry-providers',
  events: 'RegistryProvider',
  isRenamable: false,
  create: (api, { organization }, name) => api.post(pathOfProviders(organization), providerBody(organization, name)),
  fill: async (api, { organization, signer }, { name }) => {
    const tags = resource('registry-providers', {}, { 'tag-bindings': tagBindings({ env: 'prod' }) });
    expectStatus(await api.patch(pathOfProvider(organization, name), tags), 200);
    await publishVersion(api, organization, name, '1.0.0', signer);
    await makeVersion(api, organization, name, '1.1.0', signer.keyId);
  },
  pathOf: ({ organization }, { name }) => pathOfProvider(organization, name),
  listContents: async (api, { organization }, { id, name }) => {
    const versions = await read(api, pathOfVersions(organization, name));
    return {
      tags: await readTags(api, `/api/v2/registry-providers/${id}`),
      versions: versions.map((one: any) => [one.id, one.attributes.version, one.attributes['shasums-uploaded']]),
    };
  },
};

export const RECOVERABLE_TEST_KINDS = [workspaces, projects, variableSets, providers] as const;

/** Returns everything that a resource shows, but for its name, for links, and for times that a recovery changes. */
export const showRecoverable = async (
  { pathOf, listContents }: RecoverableTestKind,
  api: ApiTestClient,
  context: RecoverableContext,
  item: RecoverableTestItem,
): Promise<object> => {
  const { attributes, relationships } = await read(api, pathOf(context, item));
  const { name: _, 'updated-at': __, 'latest-change-at': ___, ...rest } = attributes;
  const contents = await listContents(api, context, item);
  const withoutLinks = (key: string, value: unknown): unknown => (key === 'links' ? undefined : value);
  return JSON.parse(JSON.stringify({ attributes: rest, relationships, contents }, withoutLinks)) as object;
};

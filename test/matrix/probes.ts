import type { Permission } from '#api/access';
import { moduleBody, pathOfModule } from '../support/registry-modules.js';
import { platformAttributes, providerBody, uploadTo, zipOf } from '../support/registry.js';
import { expectStatus, makeConfigurationVersion, makeRun, reportBody, resource, runBody } from '../support/seeds.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import { newPolicy } from '../support/policies.js';
import { newRunTask, newWorkspaceTask } from '../support/task-service.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { addState, newVariable, type MatrixCallerInWorld, type MatrixWorld } from './shared-world.js';
import { organization, theAgent } from './targets.js';

/** A caller with a fresh workspace, on which they have the same access as on `one`. */
export type Scene = {
  readonly world: MatrixWorld;
  readonly caller: MatrixCallerInWorld;
  readonly api: ApiTestClient;
  readonly id: string;
};

/** Does what a key in the map of permissions allows, after the steps that it requires. */
export type Probe = (scene: Scene) => Promise<ApiResponse>;

export type PermissionMap = {
  readonly probes: Readonly<Record<string, Probe>>;
  /** Keys whose probes can follow each other in one scene. The other probes need a scene of their own. */
  readonly sharing: readonly string[];
  /** Permissions by key, for keys without an endpoint. */
  readonly byTable: Readonly<Record<string, Permission>>;
  /** Keys that Cadastre does not implement, which are always false. */
  readonly never: readonly string[];
};

const of = (id: string, path = ''): string => `/api/v2/workspaces/${id}${path}`;

const patch =
  (attributes: object): Probe =>
  ({ api, id }) =>
    api.patch(of(id), resource('workspaces', attributes));

const read =
  (path: string): Probe =>
  ({ api, id }) =>
    api.get(of(id, path));

const lock = (api: ApiTestClient, id: string): Promise<ApiResponse> => api.post(of(id, '/actions/lock'));

const queue =
  (attributes: object): Probe =>
  async ({ api, id, world }) => {
    await makeConfigurationVersion(world.server, id);
    return api.post('/api/v2/runs', runBody(id, attributes));
  };

export const queueDestroy = queue({ 'is-destroy': true });
export const forceDelete: Probe = ({ api, id }) => api.delete(of(id));

const flat = { data: [{ type: 'tags', attributes: { name: 'flat' } }] };

export const OF_WORKSPACE: PermissionMap = {
  probes: {
    'can-update': patch({ description: 'changed' }),
    'can-destroy': ({ api, id }) => api.post(of(id, '/actions/safe-delete')),
    'can-force-delete': forceDelete,
    'can-read-settings': read(''),
    'can-manage-assessments': patch({ 'assessments-enabled': true }),
    'can-manage-ephemeral-workspaces': patch({ 'auto-destroy-at': '2027-01-01T00:00:00.000Z' }),
    'can-manage-tags': ({ api, id }) => api.post(of(id, '/relationships/tags'), flat),
    'can-lock': ({ api, id }) => lock(api, id),
    'can-unlock': async ({ api, id }) => {
      await lock(api, id);
      return api.post(of(id, '/actions/unlock'));
    },
    'can-force-unlock': async ({ api, id, world }) => {
      await lock(world.server, id);
      return api.post(of(id, '/actions/force-unlock'));
    },
    'can-queue-run': queue({}),
    'can-queue-destroy': queueDestroy,
    'can-read-run': async ({ api, id, world }) => {
      await makeConfigurationVersion(world.server, id);
      return api.get(`/api/v2/runs/${await makeRun(world.server, id, { 'plan-only': true })}`);
    },
    'can-queue-apply': async ({ api, id, world }) => {
      await makeConfigurationVersion(world.server, id);
      const run = await makeRun(world.server, id);
      for (const report of [reportBody('planning'), reportBody('planned', { 'resource-additions': 1 })])
        expectStatus(await theAgent(world).api.post(`/api/v2/runs/${run}/progress`, report), 200);
      return api.post(`/api/v2/runs/${run}/actions/apply`);
    },
    'can-manage-run-tasks': ({ api, id, world }) =>
      api.post(of(id, '/tasks'), newWorkspaceTask(world.resources.attachedTask)),
    'can-read-variable': read('/vars'),
    'can-update-variable': ({ api, id }) => api.post(of(id, '/vars'), newVariable('key')),
    'can-read-state-versions': async (scene) => {
      await addState(scene.world.server, scene.id);
      return read('/current-state-version')(scene);
    },
    'can-read-state-outputs': async (scene) => {
      await addState(scene.world.server, scene.id);
      return read('/current-state-version-outputs')(scene);
    },
    // A caller that may store states but not lock gets a conflict, not a refusal.
    'can-create-state-versions': async ({ api, id }) => {
      await lock(api, id);
      return api.post(of(id, '/state-versions'), newStateVersion(stateFile(), { inline: true }));
    },
  },
  sharing: [
    'can-update',
    'can-read-settings',
    'can-manage-assessments',
    'can-manage-ephemeral-workspaces',
    'can-manage-tags',
    'can-read-run',
    'can-read-variable',
    'can-update-variable',
    'can-read-state-versions',
  ],
  byTable: { 'can-read-assessment-results': 'read-runs' },
  never: ['can-read-change-requests', 'can-update-change-requests'],
};

const ACME = '/api/v2/organizations/acme';

const create =
  (collection: string, attributes: object = {}): Probe =>
  ({ api, world }) =>
    api.post(`${ACME}/${collection}`, resource(collection, { name: world.unique('made'), ...attributes }));

const makesProvider: Probe = ({ api, world }) =>
  api.post(`${ACME}/registry-providers`, providerBody('acme', world.unique('made')));

const everything = resource(
  'subscriptions',
  {},
  { 'feature-set': { data: { type: 'feature-sets', id: 'fs-everything' } } },
);

export const OF_ORGANIZATION: PermissionMap = {
  probes: {
    'can-traverse': ({ api }) => api.get(ACME),
    'can-update': ({ api }) => api.patch(ACME, resource('organizations')),
    // A caller with the permission deletes a new organization, because acme is still needed.
    'can-destroy': async ({ api, caller, world }) => {
      const { 'can-destroy': hasPermission } = (await api.get(ACME)).body.data.attributes.permissions;
      const founded = hasPermission ? await organization.fresh?.(caller, world) : undefined;
      return (founded?.api ?? api).delete(`/api/v2/organizations/${founded?.params['organization'] ?? 'acme'}`);
    },
    'can-access-via-teams': ({ api }) => api.get(`${ACME}/teams`),
    'can-create-team': create('teams'),
    'can-create-project': create('projects'),
    'can-create-workspace': create('workspaces'),
    'can-manage-users': ({ api, world }) => {
      const body = resource('organization-memberships', { email: `${world.unique('guest')}@people.test` });
      return api.post(`${ACME}/organization-memberships`, body);
    },
    'can-manage-membership': ({ api, world: { openTeam, guest } }) =>
      api.post(`/api/v2/teams/${openTeam}/relationships/organization-memberships`, {
        data: [{ type: 'organization-memberships', id: guest }],
      }),
    'can-manage-subscription': ({ api }) => api.post('/api/v2/admin/organizations/acme/subscription', everything),
    'can-manage-tags': ({ api, world }) => api.post(of(world.far, '/relationships/tags'), flat),
    'can-manage-varsets': create('varsets'),
    'can-read-varsets': ({ api, world }) => api.get(`/api/v2/varsets/${world.resources.openSet}`),
    'can-update-agent-pools': create('agent-pools'),
    // The other kind of token belongs to a caller of the matrix.
    'can-update-api-token': ({ api }) => api.post(`${ACME}/authentication-token?token=audit-trails`),
    'can-update-oauth': ({ api, world }) =>
      api.patch(`/api/v2/oauth-clients/${world.resources.oauthClient}`, resource('oauth-clients', { name: 'renamed' })),
    'can-manage-run-tasks': ({ api, world }) =>
      api.post(`${ACME}/tasks`, newRunTask(world.unique('made'), { url: world.resources.taskService })),
    'can-read-run-tasks': ({ api }) => api.get(`${ACME}/tasks`),
    'can-manage-policies': ({ api, world }) => api.post(`${ACME}/policies`, newPolicy(world.unique('made'))),
    'can-read-policies': ({ api }) => api.get(`${ACME}/policies`),
    'can-update-ssh-keys': create('ssh-keys', { value: 'a private key' }),
    'can-create-provider': makesProvider,
    'can-manage-custom-providers': makesProvider,
    'can-create-module': ({ api, world }) => api.post(`${ACME}/registry-modules`, moduleBody(world.unique('made'))),
    'can-manage-public-providers': ({ api, world }) => {
      const names = { name: world.unique('made'), namespace: 'hashicorp', 'registry-name': 'public' };
      return api.post(`${ACME}/registry-providers`, resource('registry-providers', names));
    },
    'can-read-audit-trail': ({ api }) => api.get(`${ACME}/audit-trail`),
    'can-manage-auditing': ({ api }) => api.get(`${ACME}/audit-trail-settings`),
  },
  sharing: [],
  byTable: {
    'can-create-workspace-migration': 'create-workspace',
    'can-manage-policy-overrides': 'override-policies',
  },
  never: [
    'can-deploy-no-code-modules',
    'can-manage-no-code-modules',
    'can-manage-public-modules',
    'can-manage-sso',
    'can-start-trial',
    'can-update-sentinel',
  ],
};

/** The response for callers that get no upload link. There is no other way to upload. */
const NO_LINK = { status: 404, body: null, text: '', headers: new Headers() } as const satisfies ApiResponse;

/** The id of the scene is the name of a module. */
export const OF_MODULE: PermissionMap = {
  probes: { 'can-delete': ({ api, id }) => api.delete(pathOfModule('acme', id)) },
  sharing: [],
  byTable: {},
  never: ['can-resync', 'can-retry'],
};

const pathOf = (id: string): string => `${ACME}/registry-providers/private/acme/${id}`;
const ONE = '/versions/1.0.0';
const ONE_FOR_LINUX = `${ONE}/platforms/linux/amd64`;

const uploads =
  (path: string, link: string, content: (name: string) => Buffer): Probe =>
  async ({ api, id }) => {
    const { links } = expectStatus(await api.get(pathOf(id) + path), 200).body.data;
    return links[link] ? uploadTo(api, links[link] as string, content(id)) : NO_LINK;
  };

const deletes =
  (path = ''): Probe =>
  ({ api, id }) =>
    api.delete(pathOf(id) + path);

const sumsOf = (name: string): Buffer => {
  const { shasum, filename } = platformAttributes(name, '1.0.0');
  return Buffer.from(`${shasum}  ${filename}\n`);
};

const onlyProbes = (probes: PermissionMap['probes']): PermissionMap => ({
  probes,
  sharing: [],
  byTable: {},
  never: [],
});

/** The id of the scene is the name of a provider that has a version with a platform. */
export const OF_PROVIDER = onlyProbes({ 'can-delete': deletes() });
export const OF_PROVIDER_VERSION = onlyProbes({
  'can-delete': deletes(ONE),
  'can-upload-asset': uploads(ONE, 'shasums-upload', sumsOf),
});
export const OF_PROVIDER_PLATFORM = onlyProbes({
  'can-delete': deletes(ONE_FOR_LINUX),
  'can-upload-asset': uploads(ONE_FOR_LINUX, 'provider-binary-upload', (name) => zipOf(name, '1.0.0')),
});

import { OPA_PROGRAM, related, resource } from '../../support/seeds.js';
import { addStateConsumer } from '../shared-world.js';
import type { MatrixRequest, MatrixRow, MatrixTarget } from '../matrix.js';
import {
  besideTheWorkspace,
  freshWorkspace,
  inAcme,
  onTheWorkspace,
  organization,
  otherProject,
  project,
  site,
  siteOpaVersion,
  siteToolVersion,
  workspace,
} from '../targets.js';

const byId = '/workspaces/:id';
const byName = '/organizations/:organization/workspaces/:name';

/** Returns the names of the workspaces that the caller may read. */
export const seenWorkspaces = ({ caller, world, may }: MatrixRequest): readonly string[] => [
  ...(may('read-workspace', onTheWorkspace(caller, world)) ? ['one'] : []),
  ...(may('read-workspace', besideTheWorkspace(caller, world)) ? ['beside'] : []),
  ...(may('read-workspace', inAcme(caller, world)) ? ['far'] : []),
];

const lists: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/workspaces',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: seenWorkspaces,
  },
];

const reads: readonly MatrixRow[] = [byId, byName].map((path) => ({
  route: `GET ${path}`,
  about: workspace,
  demands: ['read-workspace'],
  status: 200,
}));

const toOne = (type: string, id: string): object => ({ data: { type, id } });

const creates: readonly MatrixRow[] = [
  {
    route: 'POST /organizations/:organization/workspaces',
    condition: 'in the project',
    about: { ...project, params: organization.params },
    demands: ['create-workspace'],
    status: 201,
    trail: ['workspace create'],
    bodyFor: ({ world }) =>
      resource('workspaces', { name: world.unique('made') }, { project: toOne('projects', world.land) }),
  },
  {
    route: 'POST /organizations/:organization/workspaces',
    condition: 'in the default project',
    about: organization,
    demands: ['create-workspace'],
    status: 201,
    trail: ['workspace create'],
    bodyFor: ({ world }) => resource('workspaces', { name: world.unique('made') }),
  },
];

const updates: readonly MatrixRow[] = [
  ...[byId, byName].map((path): MatrixRow => ({
    route: `PATCH ${path}`,
    about: workspace,
    demands: ['read-workspace', 'update-workspace'],
    status: 200,
    trail: ['workspace update'],
    bodyFor: ({ world }) => resource('workspaces', { description: world.unique('described') }),
  })),
  {
    route: `PATCH ${byId}`,
    condition: 'into another project',
    about: workspace,
    demands: ['read-workspace', 'move-workspace', ['move-workspace', otherProject]],
    status: 200,
    trail: ['workspace update'],
    fresh: true,
    bodyFor: ({ world }) => resource('workspaces', {}, { project: toOne('projects', world.elsewhere) }),
  },
  {
    route: `PATCH ${byId}`,
    condition: 'into another project, and its settings',
    about: workspace,
    demands: ['read-workspace', 'move-workspace', ['move-workspace', otherProject], 'update-workspace'],
    status: 200,
    trail: ['workspace update'],
    fresh: true,
    bodyFor: ({ world }) =>
      resource('workspaces', { description: 'moved' }, { project: toOne('projects', world.elsewhere) }),
  },
  {
    route: `PATCH ${byId}/relationships/ssh-key`,
    about: workspace,
    demands: ['read-workspace', 'assign-ssh-key'],
    status: 200,
    trail: ['workspace update'],
    fresh: true,
    bodyFor: ({ world }) => resource('workspaces', { id: world.resources.sshKey }),
  },
];

/** Moves workspaces into `elsewhere` through the route of the project. */
const movedWorkspace: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { elsewhere, one }) => ({ project: elsewhere, id: one }),
  fresh: async (caller, world) => ({
    params: { project: world.elsewhere, id: (await freshWorkspace(caller, world)).id },
  }),
};

const moves: readonly MatrixRow[] = [
  {
    route: 'POST /projects/:project/relationships/workspaces',
    about: movedWorkspace,
    demands: [['move-workspace', otherProject], 'read-workspace', 'move-workspace'],
    status: 204,
    trail: ['workspace update'],
    fresh: true,
    bodyFor: ({ params }) => ({ data: [{ type: 'workspaces', id: params['id'] }] }),
  },
];

const CONSUMERS = `${byId}/relationships/remote-state-consumers`;

/** A caller that may change the list but not read the named workspace gets 422, as for an unknown workspace. */
const namingBeside = {
  about: workspace,
  status: ({ caller, world, may }) => (may('read-workspace', besideTheWorkspace(caller, world)) ? 204 : 422),
  trail: ['workspace update'],
  fresh: true,
  bodyFor: ({ world }) => related('workspaces', world.beside),
} as const satisfies Partial<MatrixRow>;

const consumers: readonly MatrixRow[] = [
  {
    route: `GET ${CONSUMERS}`,
    about: workspace,
    demands: ['read-workspace'],
    status: 200,
    shows: ({ caller, world, may }) => (may('read-workspace', besideTheWorkspace(caller, world)) ? ['beside'] : []),
  },
  {
    route: `GET ${byId}/relationships/remote-state-sources`,
    about: { scope: besideTheWorkspace, params: (_, { beside }) => ({ id: beside }) },
    demands: ['read-workspace'],
    status: 200,
    shows: ({ caller, world, may }) => (may('read-workspace', onTheWorkspace(caller, world)) ? ['one'] : []),
  },
  { route: `POST ${CONSUMERS}`, ...namingBeside, demands: ['read-workspace', 'update-workspace'] },
  {
    route: `DELETE ${CONSUMERS}`,
    ...namingBeside,
    demands: ['read-workspace', 'update-workspace'],
    before: ({ world, params }) => addStateConsumer(world.server, params['id'] ?? '', world.beside),
  },
  { route: `PATCH ${CONSUMERS}`, ...namingBeside, demands: ['read-workspace', 'replace-remote-state-consumers'] },
];

const actions: readonly MatrixRow[] = [
  {
    route: `POST ${byId}/actions/lock`,
    about: workspace,
    demands: ['read-workspace', 'lock-workspace'],
    status: 200,
    trail: ['workspace lock'],
    fresh: true,
  },
  {
    route: `POST ${byId}/actions/renew-lock`,
    about: workspace,
    demands: ['read-workspace', 'lock-workspace'],
    body: { 'expires-in': 60 },
    status: 200,
    trail: ['workspace lease_lock'],
    fresh: true,
    before: ({ api, params }) => api.post(`/api/v2/workspaces/${params['id']}/actions/lock`, { 'expires-in': 60 }),
  },
  {
    route: `POST ${byId}/actions/unlock`,
    about: workspace,
    demands: ['read-workspace', 'lock-workspace'],
    status: 200,
    trail: ['workspace unlock'],
    fresh: true,
    before: ({ api, params }) => api.post(`/api/v2/workspaces/${params['id']}/actions/lock`),
  },
  {
    route: `POST ${byId}/actions/force-unlock`,
    about: workspace,
    demands: ['read-workspace', 'force-unlock-workspace'],
    status: 200,
    trail: ['workspace force_unlock'],
    fresh: true,
    before: ({ world, params }) => world.server.post(`/api/v2/workspaces/${params['id']}/actions/lock`),
  },
];

const letAdminsForce =
  (allowed: boolean): NonNullable<MatrixRow['setUp']> =>
  (world) =>
    world.server.patch(
      '/api/v2/organizations/acme',
      resource('organizations', { 'allow-force-delete-workspaces': allowed }),
    );

const deletes: readonly MatrixRow[] = [byId, byName].flatMap((path): MatrixRow[] => [
  {
    route: `POST ${path}/actions/safe-delete`,
    about: workspace,
    demands: ['read-workspace', 'delete-workspace'],
    status: 204,
    trail: ['workspace destroy'],
    fresh: true,
  },
  {
    route: `DELETE ${path}`,
    about: workspace,
    demands: ['read-workspace', 'force-delete-workspace'],
    status: 204,
    trail: ['workspace destroy'],
    fresh: true,
  },
  {
    route: `DELETE ${path}`,
    condition: 'if admins may do so',
    about: workspace,
    demands: ['read-workspace', 'force-delete-own-workspace'],
    status: 204,
    trail: ['workspace destroy'],
    fresh: true,
    setUp: letAdminsForce(true),
    tearDown: letAdminsForce(false),
  },
]);

const administration: readonly MatrixRow[] = [
  { route: 'GET /admin/workspaces', about: site, demands: ['manage-site'], status: 200 },
  { route: 'GET /admin/workspaces/:id', about: workspace, demands: [['manage-site', site]], status: 200 },
  {
    route: 'DELETE /admin/workspaces/:id',
    about: workspace,
    demands: [['manage-site', site]],
    status: 204,
    trail: ['workspace destroy'],
    fresh: true,
  },
];

/** The rows of the releases of a program. */
const releasesOf = (
  type: 'terraform-versions' | 'opa-versions',
  about: MatrixTarget,
  program: Readonly<Record<string, string>>,
): readonly MatrixRow[] => {
  const [route, audited] = [`/admin/${type}`, type.replace('-versions', '_version')];
  return [
    { route: `GET ${route}`, about: site, demands: ['manage-site'], status: 200 },
    { route: `GET ${route}/:id`, about, demands: ['manage-site'], status: 200 },
    {
      route: `POST ${route}`,
      about: site,
      demands: ['manage-site'],
      status: 201,
      trail: [`${audited} create`],
      bodyFor: ({ world }) => resource(type, { version: `9.0.0-${world.unique('made')}`, ...program }),
    },
    {
      route: `PATCH ${route}/:id`,
      about,
      demands: ['manage-site'],
      status: 200,
      trail: [`${audited} update`],
      fresh: true,
      body: resource(type, { enabled: false }),
    },
    {
      route: `DELETE ${route}/:id`,
      about,
      demands: ['manage-site'],
      status: 204,
      trail: [`${audited} destroy`],
      fresh: true,
    },
  ];
};

export const workspaces: readonly MatrixRow[] = [
  ...releasesOf('terraform-versions', siteToolVersion, {}),
  ...releasesOf('opa-versions', siteOpaVersion, OPA_PROGRAM),
  ...lists,
  ...reads,
  ...creates,
  ...updates,
  ...moves,
  ...consumers,
  ...actions,
  ...deletes,
  ...administration,
];

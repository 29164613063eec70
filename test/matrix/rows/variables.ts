import { resource } from '../../support/seeds.js';
import { newVariable, type MatrixCallerInWorld, type MatrixWorld } from '../shared-world.js';
import type { Params, MatrixRow, MatrixTarget } from '../matrix.js';
import {
  freshWorkspace,
  inAcme,
  onTheProject,
  onTheWorkspace,
  organization,
  project,
  site,
  workspace,
} from '../targets.js';

const changed: NonNullable<MatrixRow['bodyFor']> = ({ world }) =>
  resource('vars', { description: world.unique('described') });

const variable: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { one, resources }) => ({ id: one, variable: resources.variable }),
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    const response = await world.server.post(`/api/v2/workspaces/${id}/vars`, newVariable('key'));
    return { params: { id, variable: response.body.data.id as string } };
  },
};
/** The same variable, by its own id alone. */
const variableAlone: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { resources }) => ({ id: resources.variable }),
  fresh: async (caller, world) => {
    const { params } = (await variable.fresh?.(caller, world)) ?? { params: {} as Params };
    return { params: { id: params['variable'] ?? '' } };
  },
};

const OF_WORKSPACE = '/workspaces/:id/vars';

const ofWorkspaces: readonly MatrixRow[] = [
  { route: `GET ${OF_WORKSPACE}`, about: workspace, demands: ['read-variables'], status: 200, trail: ['var index'] },
  {
    route: 'GET /workspaces/:id/all-vars',
    about: workspace,
    demands: ['read-variables'],
    status: 200,
    trail: ['var index'],
  },
  { route: 'GET /workspaces/:id/varsets', about: workspace, demands: ['read-variables'], status: 200 },
  { route: 'GET /workspaces/:id/applicable-varsets', about: workspace, demands: ['read-variables'], status: 200 },
  {
    route: `GET ${OF_WORKSPACE}/:variable`,
    about: variable,
    demands: ['read-variables'],
    status: 200,
    trail: ['var show'],
  },
  {
    route: 'GET /vars',
    about: { ...site, scope: onTheWorkspace },
    demands: ['read-variables'],
    status: 200,
    trail: ['var index'],
    query: () => 'filter[organization][name]=acme&filter[workspace][name]=one',
  },
  {
    route: `POST ${OF_WORKSPACE}`,
    about: workspace,
    demands: ['read-variables', 'update-variables'],
    status: 201,
    trail: ['var create'],
    bodyFor: ({ world }) => newVariable(world.unique('made')),
  },
  {
    route: 'POST /vars',
    about: { ...site, scope: onTheWorkspace },
    demands: ['read-variables', 'update-variables'],
    status: 201,
    trail: ['var create'],
    bodyFor: ({ world }) =>
      resource(
        'vars',
        { key: world.unique('made'), value: 'v', category: 'terraform' },
        { workspace: { data: { type: 'workspaces', id: world.one } } },
      ),
  },
  ...[
    { path: `${OF_WORKSPACE}/:variable`, about: variable },
    { path: '/vars/:id', about: variableAlone },
  ].flatMap(({ path, about }): MatrixRow[] => {
    const demands = ['read-variables', 'update-variables'] as const;
    return [
      { route: `PATCH ${path}`, about, demands, status: 200, trail: ['var update'], bodyFor: changed },
      { route: `DELETE ${path}`, about, demands, status: 204, trail: ['var destroy'], fresh: true },
    ];
  }),
];

type SetKind = {
  readonly condition: string;
  readonly scope: MatrixTarget['scope'];
  readonly ids: (world: MatrixWorld) => readonly [string, string];
  /** Relationships of a new set for this caller. */
  readonly parent: (caller: MatrixCallerInWorld, world: MatrixWorld) => object;
};

/** Sets of the organization require access to all workspaces. Sets of a project require access to the project. */
const SETS: readonly SetKind[] = [
  {
    condition: 'of the organization',
    scope: inAcme,
    ids: ({ resources }) => [resources.openSet, resources.openSetVariable],
    parent: () => ({}),
  },
  {
    condition: 'of the project',
    scope: onTheProject,
    ids: ({ resources }) => [resources.landSet, resources.landSetVariable],
    parent: (_, { land }) => ({ parent: { data: { type: 'projects', id: land } } }),
  },
];

const setOf = ({ scope, ids, parent }: SetKind): MatrixTarget => ({
  scope,
  params: (_, world) => {
    const [id, inside] = ids(world);
    return { id, variable: inside };
  },
  fresh: async (caller, world) => {
    const { server, acme, unique } = world;
    const body = resource('varsets', { name: unique('set') }, parent(caller, world));
    const response = await server.post(`/api/v2/organizations/${acme.name}/varsets`, body);
    const id = response.body.data.id as string;
    const inside = await server.post(`/api/v2/varsets/${id}/relationships/vars`, newVariable('key'));
    return { params: { id, variable: inside.body.data.id as string } };
  },
});

const setTargets = (kind: 'workspaces' | 'projects', { one, land }: MatrixWorld): object => ({
  data: [{ type: kind, id: kind === 'workspaces' ? one : land }],
});

const SET = '/varsets/:id';
const reads = ['read-variable-sets'] as const;
const manages = ['read-variable-sets', 'manage-variable-sets'] as const;

const ofSets = SETS.flatMap((kind): MatrixRow[] => {
  const about = setOf(kind);
  const { condition } = kind;
  return [
    { route: `GET ${SET}`, condition, about, demands: reads, status: 200 },
    {
      route: `GET ${SET}`,
      condition: `${condition}, with its variables`,
      about,
      demands: reads,
      status: 200,
      trail: ['var index'],
      query: () => 'include=vars',
    },
    { route: `GET ${SET}/relationships/vars`, condition, about, demands: reads, status: 200, trail: ['var index'] },
    {
      route: `GET ${SET}/relationships/vars/:variable`,
      condition,
      about,
      demands: reads,
      status: 200,
      trail: ['var show'],
    },
    ...(['PATCH', 'PUT'] as const).map((method): MatrixRow => ({
      route: `${method} ${SET}`,
      condition,
      about,
      demands: manages,
      status: 200,
      trail: ['varset update'],
      bodyFor: ({ world }) => resource('varsets', { description: world.unique('described') }),
    })),
    {
      route: `DELETE ${SET}`,
      condition,
      about,
      demands: manages,
      status: 204,
      trail: ['varset destroy'],
      fresh: true,
    },
    {
      route: `POST ${SET}/relationships/vars`,
      condition,
      about,
      demands: manages,
      status: 201,
      trail: ['var create'],
      bodyFor: ({ world }) => newVariable(world.unique('made')),
    },
    {
      route: `PATCH ${SET}/relationships/vars/:variable`,
      condition,
      about,
      demands: manages,
      status: 200,
      trail: ['var update'],
      bodyFor: changed,
    },
    {
      route: `DELETE ${SET}/relationships/vars/:variable`,
      condition,
      about,
      demands: manages,
      status: 204,
      trail: ['var destroy'],
      fresh: true,
    },
    ...(['POST', 'DELETE'] as const).flatMap((method) =>
      (['workspaces', 'projects'] as const).map((kind): MatrixRow => ({
        route: `${method} ${SET}/relationships/${kind}`,
        condition,
        about,
        demands: manages,
        status: 204,
        trail: ['varset update'],
        fresh: true,
        before: async ({ world, params }) => {
          if (method === 'POST') return;
          await world.server.post(`/api/v2/varsets/${params['id']}/relationships/${kind}`, setTargets(kind, world));
        },
        bodyFor: ({ world }) => setTargets(kind, world),
      })),
    ),
    {
      route: 'POST /organizations/:organization/varsets',
      condition,
      about: { scope: kind.scope, params: organization.params },
      demands: ['manage-variable-sets'],
      status: 201,
      trail: ['varset create'],
      bodyFor: ({ caller, world }) => resource('varsets', { name: world.unique('made') }, kind.parent(caller, world)),
    },
  ];
});

const lists: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/varsets',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: ({ caller, world, may }) => [
      ...(may('read-variable-sets', inAcme(caller, world)) ? ['set-of-all'] : []),
      ...(may('read-variable-sets', onTheProject(caller, world)) ? ['set-of-land'] : []),
    ],
  },
  { route: 'GET /projects/:id/varsets', about: project, demands: reads, status: 200 },
];

export const variables: readonly MatrixRow[] = [...lists, ...ofWorkspaces, ...ofSets];

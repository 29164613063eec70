import { resource } from '../../support/seeds.js';
import { newStateVersion, stateFile } from '../../support/state-file.js';
import { addState } from '../land.js';
import type { Row, Target } from '../matrix.js';
import { freshWorkspace, onTheWorkspace, site, stateOutput, stateVersion, workspace } from '../targets.js';

const ofVersions = ['', '/download', '/json-download'].map((path): Row => ({
  route: `GET /state-versions/:id${path}`,
  about: stateVersion,
  demands: ['read-state'],
  status: 200,
}));

/** Only who holds the lock may store a state, and one permission does not bring the other. */
const underLock = {
  status: ({ caller, world, may }) => (may('lock-workspace', onTheWorkspace(caller, world)) ? 201 : 409),
  before: ({ api, params }) => api.post(`/api/v2/workspaces/${params['id']}/actions/lock`),
} as const satisfies Partial<Row>;

const rolledBack: Target = {
  place: onTheWorkspace,
  standing: (_, { one, stateVersion: version }) => ({ id: one, version }),
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    return { params: { id, version: await addState(world.server, id) } };
  },
};

const ofWorkspaces: readonly Row[] = [
  ...['current-state-version', 'resources'].map((path): Row => ({
    route: `GET /workspaces/:id/${path}`,
    about: workspace,
    demands: ['read-state'],
    status: 200,
  })),
  {
    route: 'GET /state-versions',
    about: { ...site, place: onTheWorkspace },
    demands: ['read-state'],
    status: 200,
    query: () => 'filter[organization][name]=acme&filter[workspace][name]=one',
    nameOf: () => 'a version',
    shows: () => ['a version'],
  },
  { route: 'GET /workspaces/:id/state-versions', about: workspace, demands: ['read-state'], status: 200 },
  {
    route: 'POST /workspaces/:id/state-versions',
    about: workspace,
    demands: ['create-state'],
    ...underLock,
    fresh: true,
    body: newStateVersion(stateFile(), { inline: true }),
  },
  {
    route: 'PATCH /workspaces/:id/state-versions',
    about: rolledBack,
    demands: ['create-state'],
    ...underLock,
    fresh: true,
    bodyFor: ({ params }) =>
      resource(
        'state-versions',
        {},
        { 'rollback-state-version': { data: { type: 'state-versions', id: params['version'] } } },
      ),
  },
];

/** The current version is kept as it is: who may take bytes away is told that these are needed. */
const backingData = (
  [
    ['soft_delete_backing_data', 400],
    ['restore_backing_data', 200],
    ['permanently_delete_backing_data', 400],
  ] as const
).map(([action, status]): Row => ({
  route: `POST /state-versions/:id/actions/${action}`,
  about: stateVersion,
  demands: ['read-state', 'delete-state-data'],
  status,
}));

const outputs: readonly Row[] = [
  { route: 'GET /state-versions/:id/outputs', about: stateVersion, demands: ['read-state-outputs'], status: 200 },
  {
    route: 'GET /workspaces/:id/current-state-version-outputs',
    about: workspace,
    demands: ['read-state-outputs'],
    status: 200,
  },
  { route: 'GET /state-version-outputs/:id', about: stateOutput, demands: ['read-state-outputs'], status: 200 },
];

/** The signed link stands for the permission: without one that is ours, nobody gets further. */
const uploads: readonly Row[] = [
  {
    route: 'PUT /state-versions/upload/:token',
    about: { ...site, standing: () => ({ token: 'not.signed' }) },
    demands: 'anybody',
    status: 403,
    body: 'bytes',
  },
];

export const state: readonly Row[] = [...ofVersions, ...ofWorkspaces, ...backingData, ...outputs, ...uploads];

import { randomUUID } from 'node:crypto';
import { makeWorkspace, resource } from '../../support/seeds.js';
import { newStateVersion, stateFile } from '../../support/state-file.js';
import { addState } from '../shared-world.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import {
  freshWorkspace,
  onTheWorkspace,
  organization,
  site,
  speakingIn,
  stateOutput,
  stateVersion,
  tokenOf,
  workspace,
} from '../targets.js';

const ofVersions = ['', '/download', '/json-download'].map((path): MatrixRow => ({
  route: `GET /state-versions/:id${path}`,
  about: stateVersion,
  demands: ['read-state'],
  status: 200,
  trail: ['state_version show'],
}));

/** Only the holder of the lock may store a state, and neither permission includes the other. */
const underLock = {
  status: ({ caller, world, may }) => (may('lock-workspace', onTheWorkspace(caller, world)) ? 201 : 409),
  before: ({ api, params }) => api.post(`/api/v2/workspaces/${params['id']}/actions/lock`),
} as const satisfies Partial<MatrixRow>;

const rolledBack: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { one, stateVersion: version }) => ({ id: one, version }),
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    const version = await addState(world.server, id);
    return { params: { id, version }, ...(await speakingIn(id, caller, world)) };
  },
};

const ofWorkspaces: readonly MatrixRow[] = [
  ...['current-state-version', 'resources'].map((path): MatrixRow => ({
    route: `GET /workspaces/:id/${path}`,
    about: workspace,
    demands: ['read-state'],
    status: 200,
    trail: ['state_version show'],
  })),
  {
    route: 'GET /organizations/:organization/resource-statistics',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
  {
    route: 'GET /state-versions',
    about: { ...site, scope: onTheWorkspace },
    demands: ['read-state'],
    status: 200,
    trail: ['state_version index'],
    query: () => 'filter[organization][name]=acme&filter[workspace][name]=one',
    nameOf: () => 'a version',
    shows: () => ['a version'],
  },
  {
    route: 'GET /workspaces/:id/state-versions',
    about: workspace,
    demands: ['read-state'],
    status: 200,
    trail: ['state_version index'],
  },
  {
    route: 'POST /workspaces/:id/state-versions',
    about: workspace,
    demands: ['create-state'],
    ...underLock,
    trail: ['state_version create'],
    fresh: true,
    body: newStateVersion(stateFile(), { inline: true }),
  },
  {
    route: 'PATCH /workspaces/:id/state-versions',
    about: rolledBack,
    demands: ['create-state'],
    ...underLock,
    trail: ['state_version create'],
    fresh: true,
    bodyFor: ({ params }) =>
      resource(
        'state-versions',
        {},
        { 'rollback-state-version': { data: { type: 'state-versions', id: params['version'] } } },
      ),
  },
];

/** An older state version, because the data of the current one is kept. */
const superseded: MatrixTarget = {
  ...stateVersion,
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    const lineage = randomUUID();
    const older = await addState(world.server, id, { lineage, serial: 1 });
    await addState(world.server, id, { lineage, serial: 2 });
    return { params: { id: older } };
  },
};

const backingData = ['soft_delete_backing_data', 'restore_backing_data', 'permanently_delete_backing_data'].map(
  (action): MatrixRow => ({
    route: `POST /state-versions/:id/actions/${action}`,
    about: superseded,
    demands: ['read-state', 'delete-state-data'],
    status: 200,
    trail: [`state_version ${action}`],
    fresh: true,
    before: async ({ world, params }) => {
      if (action === 'soft_delete_backing_data') return;
      await world.server.post(`/api/v2/state-versions/${params['id']}/actions/soft_delete_backing_data`);
    },
  }),
);

const outputs: readonly MatrixRow[] = [
  {
    route: 'GET /state-versions/:id/outputs',
    about: stateVersion,
    demands: ['read-state-outputs'],
    status: 200,
    trail: ['state_version show'],
  },
  {
    route: 'GET /workspaces/:id/current-state-version-outputs',
    about: workspace,
    demands: ['read-state-outputs'],
    status: 200,
    trail: ['state_version show'],
  },
  {
    route: 'GET /state-version-outputs/:id',
    about: stateOutput,
    demands: ['read-state-outputs'],
    status: 200,
    trail: ['state_version show'],
  },
];

const unsigned: MatrixTarget = { ...site, params: () => ({ token: 'not.signed' }) };
const uploaded = stateFile();

/** A signed link replaces the permission. Without a valid link the upload is refused. */
const uploads: readonly MatrixRow[] = [
  {
    route: 'PUT /state-versions/upload/:token',
    about: {
      ...unsigned,
      fresh: async (_, world) => {
        const { server, acme, unique } = world;
        const id = await makeWorkspace(server, acme.name, unique('workspace'));
        await server.post(`/api/v2/workspaces/${id}/actions/lock`);
        const announced = newStateVersion(uploaded, { inline: false });
        const response = await server.post(`/api/v2/workspaces/${id}/state-versions`, announced);
        return { params: { token: tokenOf(response.body.data.attributes['hosted-state-upload-url'] as string) } };
      },
    },
    demands: 'anybody',
    status: 200,
    trail: [],
    fresh: true,
    body: uploaded.bytes,
  },
  {
    route: 'PUT /state-versions/upload/:token',
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
    trail: [],
    body: 'bytes',
  },
];

export const state: readonly MatrixRow[] = [...ofVersions, ...ofWorkspaces, ...backingData, ...outputs, ...uploads];

import { makeProvider, pathOfProvider } from '../../support/registry.js';
import { expectStatus, makeProject, resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { freshWorkspace, inAcme, onTheWorkspace, organization } from '../targets.js';

const deleteSafely = async (world: MatrixWorld, id: string): Promise<void> =>
  void expectStatus(await world.server.post(`/api/v2/workspaces/${id}/actions/safe-delete`), 204);

/** A deleted workspace beside the workspace `one`. */
const deletedWorkspace: MatrixTarget = {
  scope: onTheWorkspace,
  params: () => ({ id: 'ws-unknown' }),
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    await deleteSafely(world, id);
    return { params: { id } };
  },
};

/** A deleted variable set of the organization. */
const deletedSet: MatrixTarget = {
  scope: inAcme,
  params: () => ({ id: 'varset-unknown' }),
  fresh: async (_, { server, acme, unique }) => {
    const body = resource('varsets', { name: unique('set') });
    const answer = await server.post(`/api/v2/organizations/${acme.name}/varsets`, body);
    const { id } = expectStatus(answer, 201).body.data;
    expectStatus(await server.delete(`/api/v2/varsets/${id}`), 204);
    return { params: { id } };
  },
};

/** A deleted project without access of teams. */
const deletedProject: MatrixTarget = {
  scope: inAcme,
  params: () => ({ id: 'prj-unknown' }),
  fresh: async (_, { server, acme, unique }) => {
    const id = await makeProject(server, acme.name, unique('project'));
    expectStatus(await server.delete(`/api/v2/projects/${id}`), 204);
    return { params: { id } };
  },
};

const deletedProvider: MatrixTarget = {
  scope: inAcme,
  params: () => ({ id: 'prov-unknown' }),
  fresh: async (_, { server, acme, unique }) => {
    const name = unique('provider');
    const id = await makeProvider(server, acme.name, name);
    expectStatus(await server.delete(pathOfProvider(acme.name, name)), 204);
    return { params: { id } };
  },
};

/** The rows of one kind of deleted resources. */
const rowsOf = (
  condition: string,
  about: MatrixTarget,
  resourceType: string,
  demands: MatrixRow['demands'],
): readonly MatrixRow[] => [
  {
    route: 'POST /recoverable-items/:id/actions/recover',
    condition,
    about,
    demands,
    status: 200,
    trail: [`${resourceType} recover`],
    fresh: true,
  },
  {
    route: 'DELETE /recoverable-items/:id',
    condition,
    about,
    demands,
    status: 204,
    trail: [`${resourceType} purge`],
    fresh: true,
  },
];

export const recoverableItemRows: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/recoverable-items',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
  ...rowsOf('a workspace', deletedWorkspace, 'workspace', ['read-workspace', 'delete-workspace']),
  ...rowsOf('a project', deletedProject, 'project', ['read-project', 'delete-project']),
  ...rowsOf('a provider', deletedProvider, 'registry_provider', ['read-providers', 'manage-providers']),
  ...rowsOf('a variable set', deletedSet, 'varset', ['read-variable-sets', 'manage-variable-sets']),
];

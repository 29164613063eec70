import { expectStatus } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { freshWorkspace, onTheWorkspace, organization } from '../targets.js';

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

export const recoverableItemRows: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/recoverable-items',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
  {
    route: 'POST /recoverable-items/:id/actions/recover',
    about: deletedWorkspace,
    demands: ['read-workspace', 'delete-workspace'],
    status: 200,
    trail: ['workspace recover'],
    fresh: true,
  },
  {
    route: 'DELETE /recoverable-items/:id',
    about: deletedWorkspace,
    demands: ['read-workspace', 'delete-workspace'],
    status: 204,
    trail: ['workspace purge'],
    fresh: true,
  },
];

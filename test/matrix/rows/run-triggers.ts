import { makeRunTrigger, makeWorkspace, runTriggerBody } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { besideTheWorkspace, freshWorkspace, onTheWorkspace, organization, workspace } from '../targets.js';

const row = { trigger: '' };

/** The trigger from `beside` to `one` exists while its row is tested, so that lists have one trigger. */
const whileThere = {
  setUp: async ({ server, one, beside }: MatrixWorld) => {
    row.trigger = await makeRunTrigger(server, one, beside);
  },
  tearDown: ({ server }: MatrixWorld) => server.delete(`/api/v2/run-triggers/${row.trigger}`),
};

const sourceBeside: MatrixTarget = { ...workspace, scope: besideTheWorkspace };

const runTrigger: MatrixTarget = {
  scope: onTheWorkspace,
  params: () => ({ id: row.trigger }),
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    const source = await makeWorkspace(world.server, world.acme.name, world.unique('source'));
    return { params: { id: await makeRunTrigger(world.server, id, source) } };
  },
};

const nameOfSource = ({ attributes }: any): string => attributes['sourceable-name'];

export const runTriggerRows: readonly MatrixRow[] = [
  {
    route: 'POST /workspaces/:id/run-triggers',
    about: workspace,
    demands: ['read-runs', 'update-workspace', ['read-runs', sourceBeside]],
    status: 201,
    trail: ['run_trigger create'],
    fresh: true,
    bodyFor: ({ world }) => runTriggerBody(world.beside),
  },
  {
    route: 'GET /workspaces/:id/run-triggers',
    about: workspace,
    demands: ['read-runs'],
    status: 200,
    query: () => 'filter[run-trigger][type]=inbound',
    shows: ({ caller, world, may }) => (may('read-runs', besideTheWorkspace(caller, world)) ? ['beside'] : []),
    nameOf: nameOfSource,
    ...whileThere,
  },
  {
    route: 'GET /organizations/:organization/run-triggers',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: ({ caller, world, may }) =>
      may('read-runs', besideTheWorkspace(caller, world)) && may('read-runs', onTheWorkspace(caller, world))
        ? ['beside']
        : [],
    nameOf: nameOfSource,
    ...whileThere,
  },
  { route: 'GET /run-triggers/:id', about: runTrigger, demands: ['read-runs'], status: 200, fresh: true },
  {
    route: 'DELETE /run-triggers/:id',
    about: runTrigger,
    demands: ['read-runs', 'update-workspace'],
    status: 204,
    trail: ['run_trigger destroy'],
    fresh: true,
  },
];

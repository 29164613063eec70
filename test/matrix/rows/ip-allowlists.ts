import { expectStatus, resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { inAcme, organization } from '../targets.js';

const LISTS = '/organizations/:organization/cidr-range-lists';

/** The lists are for agents whose pool is not assigned, so they restrict no caller of the matrix. */
const makeList = async (
  world: MatrixWorld,
  name: string,
): Promise<{ readonly list: string; readonly range: string }> => {
  const body = resource(
    'cidr-range-lists',
    { name, 'enforcement-scope': 'selected_agent_pools' },
    { 'cidr-ranges': { data: [{ type: 'cidr-ranges', attributes: { range: '203.0.113.0/24' } }] } },
  );
  const { data } = expectStatus(
    await world.server.post(`/api/v2/organizations/${world.acme.name}/cidr-range-lists`, body),
    201,
  ).body;
  return { list: data.id, range: data.relationships['cidr-ranges'].data[0].id };
};

const row = { list: '', range: '' };

/** An organization can have twenty lists. */
const deleteLists = async ({ server, acme }: MatrixWorld): Promise<void> => {
  const path = `/api/v2/organizations/${acme.name}/cidr-range-lists?page[size]=100`;
  const { data } = expectStatus(await server.get(path), 200).body;
  for (const { links } of data) expectStatus(await server.delete(links.self), 204);
};

export const setUpSharedIpAllowlist = async (world: MatrixWorld): Promise<void> => {
  Object.assign(row, await makeList(world, 'offices'));
};

/** The list exists while its row is tested, so that lists have one list. */
const whileListed = {
  setUp: setUpSharedIpAllowlist,
  tearDown: deleteLists,
};

const list: MatrixTarget = {
  scope: inAcme,
  params: () => ({ id: row.list }),
  fresh: async (_, world) => ({ params: { id: (await makeList(world, world.unique('list'))).list } }),
};

const range: MatrixTarget = {
  scope: inAcme,
  params: () => ({ id: row.range }),
  fresh: async (_, world) => ({ params: { id: (await makeList(world, world.unique('list'))).range } }),
};

const agentPools = ({ world }: { readonly world: MatrixWorld }): object => ({
  data: [{ type: 'agent-pools', id: world.otherPool }],
});

const changed = { status: 200, trail: ['cidr_range_list update'], fresh: true, ...whileListed } as const;

export const ipAllowlistRows: readonly MatrixRow[] = [
  {
    route: `GET ${LISTS}`,
    about: organization,
    demands: ['manage-ip-allowlists'],
    status: 200,
    shows: () => ['offices'],
    ...whileListed,
  },
  {
    route: `POST ${LISTS}`,
    about: organization,
    demands: ['manage-ip-allowlists'],
    status: 201,
    trail: ['cidr_range_list create'],
    bodyFor: ({ world }) =>
      resource('cidr-range-lists', { name: world.unique('list'), 'enforcement-scope': 'selected_agent_pools' }),
    tearDown: deleteLists,
  },
  { route: 'GET /cidr-range-lists/:id', about: list, demands: ['manage-ip-allowlists'], status: 200, ...whileListed },
  {
    route: 'PATCH /cidr-range-lists/:id',
    about: list,
    demands: ['manage-ip-allowlists'],
    ...changed,
    bodyFor: ({ world }) => resource('cidr-range-lists', { name: world.unique('renamed') }),
  },
  {
    route: 'DELETE /cidr-range-lists/:id',
    about: list,
    demands: ['manage-ip-allowlists'],
    status: 204,
    trail: ['cidr_range_list destroy'],
    fresh: true,
    ...whileListed,
  },
  {
    route: 'GET /cidr-range-lists/:id/relationships/cidr-ranges',
    about: list,
    demands: ['manage-ip-allowlists'],
    status: 200,
    ...whileListed,
  },
  {
    route: 'POST /cidr-range-lists/:id/relationships/cidr-ranges',
    about: list,
    demands: ['manage-ip-allowlists'],
    ...changed,
    status: 201,
    body: resource('cidr-ranges', { range: '198.51.100.0/24' }),
  },
  {
    route: 'POST /cidr-range-lists/:id/relationships/agent-pools',
    about: list,
    demands: ['manage-ip-allowlists'],
    ...changed,
    status: 204,
    bodyFor: agentPools,
  },
  {
    route: 'DELETE /cidr-range-lists/:id/relationships/agent-pools',
    about: list,
    demands: ['manage-ip-allowlists'],
    status: 204,
    trail: [],
    inert: true,
    ...whileListed,
    bodyFor: agentPools,
  },
  { route: 'GET /cidr-ranges/:id', about: range, demands: ['manage-ip-allowlists'], status: 200, ...whileListed },
  {
    route: 'PATCH /cidr-ranges/:id',
    about: range,
    demands: ['manage-ip-allowlists'],
    ...changed,
    body: resource('cidr-ranges', { enabled: false }),
  },
  {
    route: 'DELETE /cidr-ranges/:id',
    about: range,
    demands: ['manage-ip-allowlists'],
    ...changed,
    status: 204,
  },
];

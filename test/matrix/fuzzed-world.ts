import type { DocumentedRoute } from '../docs/routes.js';
import { makeAgentToken, makeMember, makeOrganizationToken, makeToken } from '../support/seeds.js';
import { makeScimToken } from '../support/scim.js';
import type { TestServer } from '../support/server.js';
import { setUpSharedAssessment } from './rows/assessments.js';
import { setUpSharedProvider } from './rows/identity-providers.js';
import { setUpSharedIpAllowlist } from './rows/ip-allowlists.js';
import { setUpSharedNotifications } from './rows/notifications.js';
import { addressOf, type MatrixRow, type Params } from './matrix.js';
import { setUpSharedWorld, type MatrixCallerInWorld, type MatrixWorld } from './shared-world.js';

/** A world for requests to every route, and tokens by the name of their caller. A null token is not sent. */
export type FuzzedWorld = { readonly world: MatrixWorld; readonly tokens: ReadonlyMap<string, string | null> };

const SITE_ADMIN = { authentication: 'user', roles: ['owner'] } as const;

/** Creates the world of the access matrix, with one user in place of its callers. */
export const setUpFuzzedWorld = async (server: TestServer): Promise<FuzzedWorld> => {
  const land = await setUpSharedWorld(server);
  const { acme, pool } = land;
  const outsider = await makeMember(server, 'rival', 'outsider');
  const member = await makeMember(server, acme.name, 'member');
  // The targets of the access matrix refer to callers by these names.
  const callers = ['member of a team without access', 'owner', 'invited, not accepted', 'token of an agent'].map(
    (name): MatrixCallerInWorld => ({
      ...SITE_ADMIN,
      name,
      api: member,
      id: member.id,
      short: 'member',
      membership: member.membership,
      team: land.openTeam,
    }),
  );
  const world = { ...land, callers, tokens: {}, agent: 'agent-doesnotexist', pass: () => undefined };
  const ofAcme = `/api/v2/organizations/${acme.name}/authentication-token`;
  const tokens = new Map([
    ['nobody', null],
    ['a wrong token', 'wrong.atlasv1.wrong'],
    ['site administrator', server.adminToken],
    ['owners', await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`)],
    ['organization', await makeOrganizationToken(server, acme.name)],
    ['audit trail', await makeToken(server, `${ofAcme}?token=audit-trails`)],
    ['agent', await makeAgentToken(server, pool)],
    ['identity provider', await makeScimToken(server)],
    ['outsider', await makeToken(server, `/api/v2/users/${outsider.id}/authentication-tokens`)],
  ]);
  await setUpSharedProvider(world);
  await setUpSharedNotifications(world);
  await setUpSharedIpAllowlist(world);
  await setUpSharedAssessment(world);
  return { world, tokens };
};

const ownerOf = ({ callers }: MatrixWorld): MatrixCallerInWorld => (callers as readonly [MatrixCallerInWorld])[0];

/** Returns parameters of resources of the world for each row of the route. */
export const paramsFor = ({ rows }: DocumentedRoute, world: MatrixWorld): readonly Params[] =>
  rows.map(({ about }) => about.params(ownerOf(world), world));

/** What a row of the access matrix sends as the owner. */
export type MatrixSample = {
  readonly address: string;
  /** The query, without `?`. Empty if the row has none. */
  readonly query: string;
  /** Undefined if the row sends no body. */
  readonly body: unknown;
};

const sampleOf = async (row: MatrixRow, world: MatrixWorld): Promise<MatrixSample> => {
  const caller = ownerOf(world);
  // A success uses the resource up. If earlier requests have changed the world so that it has no place for another
  // resource, the shared resource remains.
  const fresh = row.fresh && (await row.about.fresh?.(caller, world).catch(() => undefined));
  const params = fresh?.params ?? row.about.params(caller, world);
  const cell = { world, caller, api: world.server, params };
  return {
    address: addressOf(row, params).path,
    query: row.query?.(cell) ?? '',
    body: row.bodyFor ? row.bodyFor(cell) : row.body,
  };
};

/** Returns the requests of the route's rows for resources of the world. */
export const samplesFor = async ({ rows }: DocumentedRoute, world: MatrixWorld): Promise<readonly MatrixSample[]> =>
  Promise.all(rows.map((row) => sampleOf(row, world)));

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getRouteOptions, type TokenAccess } from '#api/access';
import { listEndpointModules, routesOf, type Route } from '../support/gateway-routes.js';
import { expectStatus, makeOrganization, resource } from '../support/seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import { send } from './matrix.js';

// Sends a request to every route with tokens of a site administrator, who may send all of them. A new route is covered
// without an entry here.

/** Requests with other methods than GET that change nothing. */
const READING = ['POST /api/v2/organizations/:organization/reserved-tag-keys/actions/preview'];

/** The routes that read an audit trail. */
const TRAIL = [
  'GET /api/v2/organization/audit-trail',
  'GET /api/v2/organizations/:organization/audit-trail',
  'GET /api/v2/organizations/:organization/audit-trail/:id',
  'GET /api/v2/organizations/:organization/audit-trail-activity',
  'GET /api/v2/organizations/:organization/audit-trail-log',
  'GET /api/v2/organizations/:organization/audit-trail-log/checkpoint',
  'GET /api/v2/organizations/:organization/audit-trail-log/entries/:entry/proof',
  'GET /api/v2/organizations/:organization/audit-trail-log/keys',
  'GET /api/v2/organizations/:organization/audit-trail-log/tile/*',
  'GET /api/v2/admin/audit-trail',
  'GET /api/v2/admin/audit-trail/:id',
];

let server: TestServer;
let routes: readonly Route[];

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

const optionsOf = ({ controller, handler }: Route) =>
  getRouteOptions((controller.prototype as Record<string, object>)[handler] as object);

/** Routes of pages and of SCIM accept no tokens of users. */
const acceptsUserToken = (route: Route): boolean => !route.open && !route.isPage && !optionsOf(route).isScim;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  const modules = await listEndpointModules();
  routes = modules.flatMap(({ controllers }) => controllers.flatMap(routesOf)).filter(acceptsUserToken);
});

afterAll(() => server.close());

const issue = async (access: TokenAccess, relationships?: object): Promise<ApiTestClient> => {
  const { id } = (await server.get('/api/v2/account/details')).body.data;
  const body = resource('authentication-tokens', { access }, relationships);
  const created = expectStatus(await server.post(`/api/v2/users/${id}/authentication-tokens`, body), 201);
  return server.as(created.body.data.attributes.token);
};

/** Parts of the refusals. The provider protocol of Terraform has errors without `meta`. */
const REFUSALS = {
  'This token is read-only': 'read-only',
  'This token can only read audit trails': 'audit-only',
  'This token has access to one organization only': 'one-organization',
};

const restrictionOf = ({ status, text }: ApiResponse): string | null => {
  const refusal = Object.entries(REFUSALS).find(([part]) => text.includes(part));
  return status === 403 && refusal ? refusal[1] : null;
};

/** Returns the restriction that refused each route, by the name of the route; null for a route that was not refused. */
const findRestrictions = async (api: ApiTestClient): Promise<Readonly<Record<string, string | null>>> => {
  const restrictions: [string, string | null][] = [];
  for (const route of routes) {
    const path = route.path.replaceAll(/:\w+/g, 'x').replace('*', 'x');
    restrictions.push([nameOf(route), restrictionOf(await send(api, route.method, path))]);
  }
  return Object.fromEntries(restrictions);
};

const expectAll = (restriction: (route: Route) => string | null): Readonly<Record<string, string | null>> =>
  Object.fromEntries(routes.map((route) => [nameOf(route), restriction(route)]));

describe('a restricted token', () => {
  it('with read-only access is refused by every route that changes something, and by no other', async () => {
    expect(await findRestrictions(await issue('read-only'))).toEqual(
      expectAll((route) => (route.method === 'GET' || READING.includes(nameOf(route)) ? null : 'read-only')),
    );
  });

  it('for audit trails only is refused by every route that reads no trail', async () => {
    expect(await findRestrictions(await issue('audit-only'))).toEqual(
      expectAll((route) => (TRAIL.includes(nameOf(route)) ? null : 'audit-only')),
    );
  });

  it('for one organization is refused by every route that creates a credential', async () => {
    const credentials = routes.filter((route) => optionsOf(route).needsRecentSignIn);
    expect(credentials.map(nameOf)).toContain('POST /api/v2/users/:id/authentication-tokens');
    const acme = { organization: { data: { type: 'organizations', id: 'acme' } } };
    const restrictions = await findRestrictions(await issue('full', acme));
    expect(credentials.map((route) => restrictions[nameOf(route)])).toEqual(credentials.map(() => 'one-organization'));
  });

  it('is the only token that routes refuse for its restriction', async () => {
    expect(await findRestrictions(await issue('full'))).toEqual(expectAll(() => null));
  });
});

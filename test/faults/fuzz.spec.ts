import http from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setUpSharedWorld, type MatrixCallerInWorld, type MatrixWorld } from '../matrix/shared-world.js';
import { routes, type DocumentedRoute } from '../docs/routes.js';
import { makeAgentToken, makeMember, makeOrganizationToken, makeToken } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { requestsTo, type FuzzedRequest, type ValidCall } from './fuzz.js';

// Every route of the gateway gets requests that range from nearly right to hostile. The server may refuse all of them;
// it must not fail. FUZZ_SEED repeats a run, FUZZ_REQUESTS sends more of them to each route.

const LONG = 600_000;
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_123);
const REQUESTS_A_ROUTE = Number(process.env['FUZZ_REQUESTS'] ?? 12);
/** In characters. The script of the page of the API has 4.9 million. */
const LARGEST_ANSWER = 6_000_000;

type Reply = { readonly status: number; readonly type: string; readonly text: string };

let server: TestServer;
let world: MatrixWorld;
let tokens: ReadonlyMap<string, string | null>;

/** Uses raw HTTP, because `fetch` would correct half of the mistakes. */
const send = ({ caller, method, url, headers, body }: FuzzedRequest): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const token = tokens.get(caller);
    const bytes = body === undefined ? null : Buffer.from(body);
    const sent = {
      ...headers,
      ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
      ...(bytes && { 'content-length': String(bytes.length) }),
    };
    const request = http.request(`${server.url}/`, { method, path: url, headers: sent, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      );
      response.once('error', reject);
    });
    request.once('error', reject);
    request.end(bytes ?? undefined);
  });

/** Returns what is wrong with the response, or null if it is valid. */
const faultOf = ({ status, type, text }: Reply): string | null => {
  if (status >= 500 && status !== 503) return `status ${status}`;
  if (text.length > LARGEST_ANSWER) return `an answer of ${text.length} characters`;
  if (/\n\s+at .+:\d+:\d+|node_modules/.test(text)) return 'a stack trace';
  if (status >= 400 && status !== 401 && text !== '') {
    if (!type.includes('json')) return `a refusal as ${type}`;
    const { errors } = JSON.parse(text) as { errors?: readonly unknown[] };
    if (!errors?.length) return 'a refusal without errors';
  }
  return null;
};

const SITE_ADMIN = { authentication: 'user', roles: ['owner'] } as const;

const validCall = (route: DocumentedRoute): ValidCall => {
  const [owner] = world.callers as readonly [MatrixCallerInWorld];
  const params = Object.assign({}, ...route.rows.map((row) => row.about.params(owner, world)));
  return { route, params, bodies: route.rows.flatMap(({ body }) => (body === undefined ? [] : [body])) };
};

/** Routes that delete come last, so that the other routes find their resources. */
const endsLast = (a: DocumentedRoute, b: DocumentedRoute): number =>
  Number(a.method === 'DELETE') - Number(b.method === 'DELETE');

beforeAll(async () => {
  server = await startTestServer({ followers: true });
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
  world = { ...land, callers, tokens: {}, agent: 'agent-doesnotexist', pass: () => undefined };
  tokens = new Map([
    ['nobody', null],
    ['a wrong token', 'wrong.atlasv1.wrong'],
    ['site administrator', server.adminToken],
    ['owners', await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`)],
    ['organization', await makeOrganizationToken(server, acme.name)],
    [
      'audit trail',
      await makeToken(server, `/api/v2/organizations/${acme.name}/authentication-token?token=audit-trails`),
    ],
    ['agent', await makeAgentToken(server, pool)],
    ['outsider', await makeToken(server, `/api/v2/users/${outsider.id}/authentication-tokens`)],
  ]);
}, LONG);

afterAll(() => server?.close());

describe('any request to any route', () => {
  it(
    'gets a response of the API, never a failure of the server',
    async () => {
      const faults: { readonly fault: string; readonly request: FuzzedRequest; readonly answer: string }[] = [];
      const statuses = new Map<number, number>();
      for (const [n, route] of (await routes()).toSorted(endsLast).entries()) {
        const requests = fc.sample(requestsTo(validCall(route), [...tokens.keys()]), {
          seed: SEED + n,
          numRuns: REQUESTS_A_ROUTE,
        });
        for (const request of requests) {
          const reply = await send(request);
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          const fault = faultOf(reply);
          if (fault !== null) faults.push({ fault, request, answer: reply.text.slice(0, 500) });
        }
      }
      const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      process.stdout.write(`fuzz, seed ${SEED}: ${counts.join(', ')}\n`);
      expect(
        faults.map(({ request, ...rest }) => ({ ...rest, request: JSON.stringify(request).slice(0, 2_000) })),
      ).toEqual([]);
      // Some requests must succeed, or only refusals were tested.
      expect(statuses.get(200)).toBeGreaterThan(100);
    },
    LONG,
  );
});

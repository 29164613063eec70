import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { paramsFor, setUpFuzzedWorld } from '../matrix/fuzzed-world.js';
import type { MatrixWorld } from '../matrix/shared-world.js';
import { routes, type DocumentedRoute } from '../docs/routes.js';
import { sendRaw, type RawReply } from '../support/raw-requests.js';
import { chooseSeed, countRounds, scaleLimit } from '../support/rounds.js';
import { REACHES_GIT_HOSTS } from '../support/git-host.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { requestsTo, type FuzzedRequest, type ValidCall } from './fuzz.js';

// Every route of the gateway gets requests that range from nearly right to hostile. The server may refuse all of them;
// it must not fail.

const LONG = scaleLimit(600_000);
const SEED = chooseSeed(20_261_123);
const REQUESTS_A_ROUTE = countRounds(8);
/** The most characters of a response. The script of the page of the API has 4.9 million. */
const LARGEST_ANSWER = 6_000_000;

/** Errors of SCIM have a format of their own. */
const SCIM = /^\/scim\//;

/** Pages answer a refusal with a page. */
const PAGES = /^\/+(?:sign-in|sign-out|account|app|oauth\/authorize|pages)(?:[/?]|$)/;
/** Endpoints of OAuth have errors in a format of their own. */
const OAUTH = /^\/+oauth\/(?:token|revoke|back-channel-logout)(?:[/?]|$)/;

let server: TestServer;
let world: MatrixWorld;
let tokens: ReadonlyMap<string, string | null>;

/** Returns what is wrong with the body of a refusal, or null if it is valid. */
const refusalFaultOf = ({ type, text }: RawReply, url: string): string | null => {
  if (type.startsWith('text/html') && PAGES.test(url)) return text.includes('<h1') ? null : 'a page without a heading';
  if (!type.includes('json')) return `a refusal as ${type}`;
  if (SCIM.test(url) && type.startsWith('application/scim+json')) {
    return text.includes('"detail"') ? null : 'an error of SCIM without a detail';
  }
  if (OAUTH.test(url)) return text.startsWith('{"error":"') ? null : 'an error of OAuth without a code';
  const { errors } = JSON.parse(text) as { errors?: readonly unknown[] };
  return errors?.length ? null : 'a refusal without errors';
};

/** Returns what is wrong with the response, or null if it is valid. */
const faultOf = (reply: RawReply, url: string): string | null => {
  const { status, text } = reply;
  if (status >= 500 && status !== 503) return `status ${status}`;
  if (text.length > LARGEST_ANSWER) return `an answer of ${text.length} characters`;
  if (/\n\s+at .+:\d+:\d+|node_modules/.test(text)) return 'a stack trace';
  return status >= 400 && status !== 401 && text !== '' ? refusalFaultOf(reply, url) : null;
};

const validCall = (route: DocumentedRoute): ValidCall => ({
  route,
  params: Object.assign({}, ...paramsFor(route, world)),
  bodies: route.rows.flatMap(({ body }) => (body === undefined ? [] : [body])),
});

/** Routes that delete come last, so that the other routes find their resources. */
const endsLast = (a: DocumentedRoute, b: DocumentedRoute): number =>
  Number(a.method === 'DELETE') - Number(b.method === 'DELETE');

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  ({ world, tokens } = await setUpFuzzedWorld(server));
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
          const reply = await sendRaw(server.url, request, tokens.get(request.caller) ?? null);
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          const fault = faultOf(reply, request.url);
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

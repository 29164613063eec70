import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { answered, makeOrganization, makeWorkspace } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { RESOURCES, type RequestBody } from './requests.js';

const requests = Object.entries(RESOURCES).flatMap(([resource, { requests: each }]) =>
  each.map((request): RequestBody & { readonly label: string } => ({
    ...request,
    label: `${resource}, ${request.name}`,
  })),
);
const sent = requests.flatMap(({ label, routes }) => routes.map((route) => [route, label] as const));

let server: TestServer;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'network');
  // A state version is refused before its body is parsed unless the caller holds the lock.
  answered(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
});
afterAll(() => server.close());
afterEach(() => vi.restoreAllMocks());

const pathOf = (path: string): string =>
  path
    .replace(':organization', 'acme')
    .replace('/workspaces/:id', `/workspaces/${workspace}`)
    .replaceAll(/:\w+/g, 'nowhere');

/** Sends an empty object, and returns the schemas of the page that parsed it. */
const schemasThatParse = async (route: string): Promise<string[]> => {
  const parsers = requests.map(({ label, body }) => ({ label, spy: vi.spyOn(body, 'safeParse') }));
  const [method = '', path = ''] = route.split(' ');
  const send = server[method.toLowerCase() as 'post' | 'patch' | 'put' | 'delete'];
  expect((await send(pathOf(path), {})).status).toBeLessThan(500);
  return parsers.flatMap(({ label, spy }) => spy.mock.calls.map(() => label));
};

/** docs/compatibility.md is made of the schemas in requests.ts. If a route parsed with another one, the page would be wrong. */
describe('the body of a request', () => {
  it.each(sent)('of %s is parsed by the schema of “%s”', async (route, label) => {
    expect(await schemasThatParse(route)).toEqual([label]);
  });
});

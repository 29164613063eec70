import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectStatus, makeOrganization, makeWorkspace, refusalOf } from '../support/seeds.js';
import { REACHES_GIT_HOSTS } from '../support/git-host.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';
import { membersOf } from './body-members.js';
import { RESOURCES, type RequestBody } from './requests.js';
import { sampledRequests, type Sample, type SampledRequest } from './samples.js';

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
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'network');
  // A state version is refused before its body is parsed unless the caller holds the lock.
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
});
afterAll(() => server.close());
afterEach(() => {
  jest.restoreAllMocks();
});

const pathOf = (path: string): string =>
  path
    .replace(':organization', 'acme')
    .replace('/workspaces/:id', `/workspaces/${workspace}`)
    .replaceAll(/:\w+/g, 'nowhere');

const send = (route: string, body: object): Promise<ApiResponse> => {
  const [method = '', path = ''] = route.split(' ');
  return server[method.toLowerCase() as 'post' | 'patch' | 'put' | 'delete'](pathOf(path), body);
};

/** Sends an empty object. Returns the labels of the schemas in requests.ts that parsed it. */
const schemasThatParse = async (route: string): Promise<string[]> => {
  const parsers = requests.map(({ label, body }) => ({ label, spy: jest.spyOn(body, 'safeParse') }));
  expect((await send(route, {})).status).toBeLessThan(500);
  return parsers.flatMap(({ label, spy }) => spy.mock.calls.map(() => label));
};

/**
 * docs/reference/compatibility.md is generated from the schemas in requests.ts. If a route parsed with another schema,
 * the page would be wrong.
 */
describe('the body of a request', () => {
  it.each(sent)('of %s is parsed by the schema of “%s”', async (route, label) => {
    expect(await schemasThatParse(route)).toEqual([label]);
  });
});

describe('a list of resources', () => {
  const isList = ({ body }: RequestBody): boolean =>
    body.safeParse({ data: [] }).success && !body.safeParse({ data: {} }).success;
  const lists = requests.filter(isList).flatMap(({ routes }) => routes);

  it.each(lists)('is refused if an entry has neither an id nor attributes, by %s', async (route) => {
    const [pointer] = refusalOf(await send(route, { data: [{}] }));
    expect(pointer).toMatch(/^\/data\/0(\/|$)/);
  });
});

const RETURNED = ['supported', 'kept'];

const namesIn = (values: object, prefix = ''): string[] =>
  Object.entries(values).flatMap(([name, value]) => [
    prefix + name,
    ...(typeof value === 'object' && !Array.isArray(value) ? namesIn(value as object, `${prefix}${name}.`) : []),
  ]);

const membersIn = ({ attributes = {}, relationships = {} }: Sample): string[] => [
  ...namesIn(attributes),
  ...Object.keys(relationships).map((name) => `relationships.${name}`),
];

/** Returns the members of the body that the server supports or keeps and that no sample has. */
const missingIn = ({ label, samples, hidden = [] }: SampledRequest): string[] => {
  const body = requests.find((request) => request.label === label)?.body;
  if (!body) throw new Error(`no request is labelled ${label}`);
  const sampled = new Set([...samples.flatMap(membersIn), ...hidden]);
  return [...membersOf(body)]
    .filter(([name, { treatment }]) => RETURNED.includes(treatment) && !sampled.has(name))
    .map(([name]) => name);
};

const without = (values: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));

const expectReturned = async ({ label, send, hidden = [] }: SampledRequest, sample: Sample): Promise<void> => {
  const { attributes = {}, relationships = {}, shows = {} } = sample;
  const { status, body, text } = await send({ attributes, ...(sample.relationships ? { relationships } : {}) });
  expect({ label, refusal: status < 300 ? null : text }).toEqual({ label, refusal: null });
  expect({ label, relationships: {}, ...body.data }).toMatchObject({
    label,
    attributes: { ...without(attributes, hidden), ...shows.attributes },
    relationships: shows.relationships ?? relationships,
  });
};

describe('members that are supported or kept', () => {
  it('appear in the documents with the values that were sent', async () => {
    for (const request of await sampledRequests(server)) {
      expect({ request: request.label, missing: missingIn(request) }).toEqual({ request: request.label, missing: [] });
      for (const sample of request.samples) await expectReturned(request, sample);
    }
  });
});

import { afterAll, beforeAll, expect } from '@jest/globals';
import { sql } from '#platform/kernel';
import { logLength } from '../../support/event-log.js';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeWorkspace,
  resource,
} from '../../support/seeds.js';
import { startTestServer, type TestServer, type TestServerOptions } from '../../support/server.js';

/** Values for the placeholders `{name}` in a path or a body. */
export type Fixture = Readonly<Record<string, string>>;

export type BadRequestCase = {
  readonly title: string;
  readonly send: `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} ${string}`;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Placeholder of the token to send instead of the administrator's. Null sends no token. */
  readonly as?: string | null;
  readonly status: number;
  /** Expected errors in order: the pointer, and optionally the detail. */
  readonly problems?: readonly (readonly [pointer: string | null, detail?: string | RegExp])[];
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  409: 'conflict',
  413: 'payload too large',
  415: 'unsupported media type',
  422: 'invalid attribute',
  503: 'unavailable',
};

const asText = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

const settle = async (server: TestServer): Promise<Fixture> => {
  const acme = await makeOrganization(server, 'acme');
  const other = await makeOrganization(server, 'other');
  const workspace = await makeWorkspace(server, 'acme', 'one');
  const locked = await makeWorkspace(server, 'acme', 'locked');
  expectStatus(await server.post(`/api/v2/workspaces/${locked}/actions/lock`), 200);
  const token = await server.post('/api/v2/organizations/other/authentication-token');
  const full = await makeProject(server, 'acme', 'full');
  await makeWorkspace(server, 'acme', 'inside', {}, { project: { data: { type: 'projects', id: full } } });
  return {
    workspace,
    locked,
    project: acme.defaultProject,
    team: acme.ownersTeam,
    full,
    foreignProject: other.defaultProject,
    otherToken: token.body.data.attributes.token as string,
    otherTokenId: token.body.data.id as string,
    acmeToken: await makeOrganizationToken(server, 'acme'),
  };
};

const viewsAsText = async (server: TestServer): Promise<string> =>
  JSON.stringify(
    await server.database.rows(sql`
      select (select jsonb_agg(w order by id) from workspaces w) as workspaces,
             (select jsonb_agg(t order by workspace, key) from workspace_tags t) as tags,
             (select jsonb_agg(c order by workspace, consumer) from remote_state_consumers c) as consumers,
             (select jsonb_agg(d order by id) from data_retention_policies d) as policies,
             (select jsonb_agg(o order by id) from organizations o) as organizations,
             (select jsonb_agg(p order by id) from projects p) as projects,
             (select jsonb_agg(a order by id) from authentication_tokens a) as tokens,
             (select jsonb_agg(s order by id) from state_versions s) as states,
             (select jsonb_agg(p order by id) from registry_providers p) as providers,
             (select jsonb_agg(v order by id) from registry_provider_versions v) as versions,
             (select jsonb_agg(p order by id) from registry_provider_platforms p) as platforms,
             (select jsonb_agg(k order by id) from gpg_keys k) as keys`),
  );

/** Starts a server with a few resources for the cases of one file. `more` creates what these cases need in addition. */
export const describeRefusals = (
  options: TestServerOptions = {},
  more: (server: TestServer, fixture: Fixture) => Promise<Fixture> = () => Promise.resolve({}),
) => {
  let server: TestServer;
  let fixture: Fixture;

  beforeAll(async () => {
    server = await startTestServer(options);
    fixture = await settle(server);
    fixture = { ...fixture, ...(await more(server, fixture)) };
  });

  afterAll(() => server.close());

  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => fixture[name] ?? placeholder);

  const send = async ({
    send: line,
    body,
    headers,
    as,
  }: BadRequestCase): Promise<{ response: Response; text: string }> => {
    const [method = '', path = ''] = filled(line).split(' ');
    const token = as === undefined ? server.adminToken : as && filled(as);
    const content = body === undefined || body instanceof Uint8Array ? body : filled(asText(body));
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/vnd.api+json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content as string }),
    });
    return { response, text: await response.text() };
  };

  /** Expects the status and its title, an error at each pointer, and no change of the log or the views. */
  const expectRefusal = async (bad: BadRequestCase): Promise<void> => {
    const before = { length: await logLength(server.store), views: await viewsAsText(server) };
    const { response, text } = await send(bad);
    expect({ status: response.status, text: response.status === bad.status ? '' : text }).toEqual({
      status: bad.status,
      text: '',
    });
    expect(response.headers.get('content-type')).toMatch(/^application\/vnd\.api\+json/);
    const { errors } = JSON.parse(text) as { errors: Record<string, any>[] };
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) {
      // Clients drop the message if the status is a number.
      expect(error).toMatchObject({ status: String(bad.status), title: TITLES[bad.status] });
      expect(error['detail']).toMatch(/\S/);
    }
    if (bad.problems) {
      expect(errors.map((error) => error['source']?.pointer ?? null)).toEqual(bad.problems.map(([pointer]) => pointer));
      bad.problems.forEach(([, detail], index) => detail && expect(errors[index]?.['detail']).toMatch(detail));
    }
    expect(await logLength(server.store)).toBe(before.length);
    expect(await viewsAsText(server)).toBe(before.views);
  };

  return { expectRefusal, get: (path: string) => server.get(filled(path)) };
};

export const WORKSPACES = '/api/v2/organizations/acme/workspaces';

export const workspace = (attributes: object, relationships?: object) =>
  resource('workspaces', attributes, relationships);

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import { logLength } from '../support/log.js';
import {
  answered,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
/** What is put in for `{name}` in a path or a body. */
let known: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startTestServer();
  const acme = await makeOrganization(server, 'acme');
  const other = await makeOrganization(server, 'other');
  const workspace = await makeWorkspace(server, 'acme', 'one');
  const locked = await makeWorkspace(server, 'acme', 'locked');
  answered(await server.post(`/api/v2/workspaces/${locked}/actions/lock`), 200);
  const token = await server.post('/api/v2/organizations/other/authentication-token');
  known = {
    workspace,
    locked,
    project: acme.defaultProject,
    team: acme.ownersTeam,
    full: await makeProject(server, 'acme', 'full'),
    foreignProject: other.defaultProject,
    otherToken: token.body.data.attributes.token as string,
    otherTokenId: token.body.data.id as string,
    acmeToken: await makeOrganizationToken(server, 'acme'),
  };
  const versions = `/api/v2/workspaces/${locked}/state-versions`;
  answered(await server.post(versions, newStateVersion(STORED, { inline: true })), 201);
  const announced = await server.post(versions, newStateVersion(PENDING, { inline: false }));
  answered(announced, 201);
  const link = pathOf(announced.body.data.attributes['hosted-state-upload-url'] as string);
  const [, path = '', payload = '', signature = ''] = /^(.*\/)([^/.]+)\.([^/.]+)$/.exec(link) ?? [];
  const [subject, expires] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, number];
  const signed = (claim: unknown): string =>
    `${path}${Buffer.from(JSON.stringify(claim)).toString('base64url')}.${signature}`;
  known = {
    ...known,
    pending: announced.body.data.id as string,
    upload: link,
    // Each is the link that we signed, but for one thing.
    otherFile: signed([subject.replace('json-', '').replace(/^/, 'json-'), expires]),
    otherVersion: signed([subject.replace(/sv-.*$/, 'sv-4nZ8vKq2RtYw5xBc'), expires]),
    otherTime: signed([subject, expires + 1]),
    otherSignature: `${path}${payload}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
    noSignature: `${path}${payload}.`,
    noClaim: `${path}.${signature}`,
    noJson: `${path}${Buffer.from('nonsense').toString('base64url')}.${signature}`,
  };
  await makeWorkspace(server, 'acme', 'inside', {}, { project: { data: { type: 'projects', id: known['full'] } } });
});

afterAll(() => server.close());

const STORED = stateFile({ serial: 4 });
const PENDING = stateFile({ serial: 5, lineage: STORED.lineage });

const filled = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole);

type Bad = {
  readonly what: string;
  readonly send: `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} ${string}`;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The token of this name instead of the administrator's; null sends none. */
  readonly as?: string | null;
  readonly status: number;
  /** Of each problem, in order: where it is, and perhaps what is said about it. */
  readonly problems?: readonly (readonly [pointer: string | null, detail?: string | RegExp])[];
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  409: 'conflict',
  413: 'payload too large',
  415: 'unsupported media type',
  422: 'invalid attribute',
  503: 'unavailable',
};

const send = async ({ send: line, body, headers, as }: Bad): Promise<{ response: Response; text: string }> => {
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

const asText = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

const viewsAsText = async (): Promise<string> =>
  JSON.stringify(
    await server.database.rows(sql`
      select (select jsonb_agg(w order by id) from workspaces w) as workspaces,
             (select jsonb_agg(t order by workspace, key) from workspace_tags t) as tags,
             (select jsonb_agg(o order by id) from organizations o) as organizations,
             (select jsonb_agg(p order by id) from projects p) as projects,
             (select jsonb_agg(a order by id) from authentication_tokens a) as tokens,
             (select jsonb_agg(s order by id) from state_versions s) as states`),
  );

/** The whole of it: the right status and title, every problem in its place, and nothing that has changed. */
const expectRefusal = async (bad: Bad): Promise<void> => {
  const before = { length: await logLength(server.store), views: await viewsAsText() };
  const { response, text } = await send(bad);
  expect({ status: response.status, text: response.status === bad.status ? '' : text }).toEqual({
    status: bad.status,
    text: '',
  });
  expect(response.headers.get('content-type')).toMatch(/^application\/vnd\.api\+json/);
  const { errors } = JSON.parse(text) as { errors: Record<string, any>[] };
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) {
    // A number here, and clients lose the whole message.
    expect(error).toMatchObject({ status: String(bad.status), title: TITLES[bad.status] });
    expect(error['detail']).toMatch(/\S/);
  }
  if (bad.problems) {
    expect(errors.map((error) => error['source']?.pointer ?? null)).toEqual(bad.problems.map(([pointer]) => pointer));
    bad.problems.forEach(([, detail], index) => detail && expect(errors[index]?.['detail']).toMatch(detail));
  }
  expect(await logLength(server.store)).toBe(before.length);
  expect(await viewsAsText()).toBe(before.views);
};

const WORKSPACES = '/api/v2/organizations/acme/workspaces';
const NAME = '/data/attributes/name';
const workspace = (attributes: object, relationships?: object) => resource('workspaces', attributes, relationships);

describe('attributes that are wrong', () => {
  it.each<Bad>([
    { what: 'no body', send: `POST ${WORKSPACES}`, status: 422, problems: [['/data', /can't be blank/]] },
    { what: 'an empty object', send: `POST ${WORKSPACES}`, body: {}, status: 422, problems: [['/data']] },
    { what: 'null', send: `POST ${WORKSPACES}`, body: 'null', status: 422, problems: [['/data']] },
    { what: 'a list', send: `POST ${WORKSPACES}`, body: [], status: 422 },
    { what: 'a text', send: `POST ${WORKSPACES}`, body: '"workspaces"', status: 422 },
    { what: 'a number', send: `POST ${WORKSPACES}`, body: '7', status: 422 },
    { what: 'data that is a list', send: `POST ${WORKSPACES}`, body: { data: [] }, status: 422, problems: [['/data']] },
    { what: 'data that is null', send: `POST ${WORKSPACES}`, body: { data: null }, status: 422, problems: [['/data']] },
    {
      what: 'no attributes',
      send: `POST ${WORKSPACES}`,
      body: { data: { type: 'workspaces' } },
      status: 422,
      problems: [['/data/attributes', "Attributes can't be blank"]],
    },
    {
      what: 'another type',
      send: `POST ${WORKSPACES}`,
      body: resource('projects', { name: 'x' }),
      status: 422,
      problems: [['/data/type', 'Type must be workspaces']],
    },
    {
      what: 'no name',
      send: `POST ${WORKSPACES}`,
      body: workspace({}),
      status: 422,
      problems: [[NAME, "Name can't be blank"]],
    },
    {
      what: 'an empty name',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: '' }),
      status: 422,
      problems: [[NAME, "Name can't be blank"]],
    },
    {
      what: 'a name that is a number',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 7 }),
      status: 422,
      problems: [[NAME, 'Name must be a string']],
    },
    {
      what: 'a name of null',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: null }),
      status: 422,
      problems: [[NAME]],
    },
    ...['with space', 'slash/ed', 'dot.ted', 'ümlaut', 'line\nbreak', '../up', '工作', '%00', "quote'd", 'x;--'].map(
      (name): Bad => ({
        what: `the name ${JSON.stringify(name)}`,
        send: `POST ${WORKSPACES}`,
        body: workspace({ name }),
        status: 422,
        problems: [[NAME, /^Name may only contain/]],
      }),
    ),
    {
      what: 'a name of 91 characters',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'x'.repeat(91) }),
      status: 422,
      problems: [[NAME]],
    },
    {
      what: 'a name with a NUL, which Postgres cannot keep',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'nul\u0000' }),
      status: 422,
      problems: [[NAME]],
    },
    {
      what: 'a name that is taken',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'one' }),
      status: 422,
      problems: [[NAME, 'Name has already been taken']],
    },
    {
      what: 'several wrong types, each told',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 1, 'auto-apply': 'yes', 'trigger-prefixes': 'x', 'vcs-repo': [] }),
      status: 422,
      problems: [
        [NAME],
        ['/data/attributes/auto-apply', 'Auto apply must be true or false'],
        ['/data/attributes/trigger-prefixes', 'Trigger prefixes must be a list'],
        ['/data/attributes/vcs-repo'],
      ],
    },
    {
      what: 'an unknown execution mode',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'execution-mode': 'nowhere' }),
      status: 422,
      problems: [['/data/attributes/execution-mode']],
    },
    {
      what: 'agent mode without a pool',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'execution-mode': 'agent' }),
      status: 422,
      problems: [['/data/attributes/agent-pool-id', /must be specified when using 'agent' execution mode/]],
    },
    {
      what: 'a pool without agent mode',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'agent-pool-id': 'apool-1' }),
      status: 422,
      problems: [['/data/attributes/agent-pool-id', /must not be specified unless using 'agent' execution mode/]],
    },
    {
      what: 'a duration in weeks',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-activity-duration': '2w' }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-activity-duration', /up to 4 numeric digits and 1 unit/]],
    },
    {
      what: 'a time that is none',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-at': 'tomorrow' }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-at']],
    },
    {
      what: 'a time beyond what a date can be',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-at': '2025-02-30T00:00:00Z' }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-at']],
    },
    {
      what: 'both ways to share state',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'global-remote-state': true, 'project-remote-state': true }),
      status: 422,
      problems: [['/data/attributes/project-remote-state', /cannot be enabled when global/]],
    },
    {
      what: 'a repository without a name',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'vcs-repo': { 'oauth-token-id': 'ot-1' } }),
      status: 422,
      problems: [['/data/attributes/vcs-repo/identifier']],
    },
    {
      what: 'a description with a NUL',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ description: 'a\u0000b' }),
      status: 422,
      problems: [['/data/attributes/description']],
    },
    {
      what: 'half of a surrogate pair',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: String.raw`{"data":{"type":"workspaces","attributes":{"description":"\ud83d"}}}`,
      status: 422,
      problems: [['/data/attributes/description']],
    },
    {
      what: 'a project that is not there',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'x' }, { project: { data: { type: 'projects', id: 'prj-nowhere' } } }),
      status: 422,
      problems: [['/data/relationships/project/data/id', 'Project does not exist']],
    },
    {
      what: 'a project of another organization',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({}, { project: { data: { type: 'projects', id: '{foreignProject}' } } }),
      status: 422,
      problems: [['/data/relationships/project/data/id', 'Project does not exist']],
    },
    {
      what: 'a lock whose reason is a list',
      send: 'POST /api/v2/workspaces/{workspace}/actions/lock',
      body: { reason: ['x'] },
      status: 422,
      problems: [['/reason']],
    },
    {
      what: 'a lock whose reason has a NUL',
      send: 'POST /api/v2/workspaces/{workspace}/actions/lock',
      body: { reason: 'a\u0000b' },
      status: 422,
      problems: [['/reason']],
    },
    {
      what: 'an organization without an address',
      send: 'POST /api/v2/organizations',
      body: resource('organizations', { name: 'third' }),
      status: 422,
      problems: [['/data/attributes/email', "Email can't be blank"]],
    },
    {
      what: 'an organization with two letters',
      send: 'POST /api/v2/organizations',
      body: resource('organizations', { name: 'ab', email: 'a@b.test' }),
      status: 422,
      problems: [[NAME]],
    },
    {
      what: 'an organization with a name that is taken',
      send: 'POST /api/v2/organizations',
      body: resource('organizations', { name: 'acme', email: 'a@b.test' }),
      status: 422,
      problems: [[NAME, 'Name has already been taken']],
    },
    {
      what: 'a session timeout out of this world',
      send: 'PATCH /api/v2/organizations/acme',
      body: resource('organizations', { 'session-timeout': 1e300 }),
      status: 422,
      problems: [['/data/attributes/session-timeout']],
    },
    {
      what: 'a project without a name',
      send: 'POST /api/v2/organizations/acme/projects',
      body: resource('projects', { description: 'x' }),
      status: 422,
      problems: [[NAME]],
    },
    {
      what: 'a project with a name that is taken',
      send: 'POST /api/v2/organizations/acme/projects',
      body: resource('projects', { name: 'full' }),
      status: 422,
      problems: [[NAME, 'Name has already been taken']],
    },
    {
      what: 'a token that expires some day',
      send: 'POST /api/v2/organizations/acme/authentication-token',
      body: resource('authentication-tokens', { 'expired-at': 'some day' }),
      status: 422,
      problems: [['/data/attributes/expired-at']],
    },
    {
      what: 'a feature set that nobody sells',
      send: 'POST /api/v2/admin/organizations/acme/subscription',
      body: {
        data: {
          type: 'subscriptions',
          relationships: { 'feature-set': { data: { type: 'feature-sets', id: 'fs-gold' } } },
        },
      },
      status: 422,
      problems: [['/data/relationships/feature-set']],
    },
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

const tag = (key: unknown, value: unknown = 'v') => ({ type: 'tag-bindings', attributes: { key, value } });
const flat = (name: unknown) => ({ type: 'tags', attributes: { name } });

describe('tags that are wrong', () => {
  it.each<Bad>([
    {
      what: 'a key with a slash',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('fine'), tag('a/b')] },
      status: 422,
      problems: [['/data/1/attributes/key', 'Key is invalid']],
    },
    {
      what: 'a key of 129 characters',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('k'.repeat(129))] },
      status: 422,
      problems: [['/data/0/attributes/key', 'Key is invalid']],
    },
    {
      what: 'a value of 257 characters',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('k', 'v'.repeat(257))] },
      status: 422,
      problems: [['/data/0/attributes/value']],
    },
    {
      what: 'a value with a NUL',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('k', '\u0000')] },
      status: 422,
      problems: [['/data/0/attributes/value']],
    },
    {
      what: 'eleven bindings',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: Array.from({ length: 11 }, (_, n) => tag(`k${n}`)) },
      status: 422,
      problems: [['/data', 'cannot exceed 10 bindings per resource']],
    },
    {
      what: 'eleven bindings with the workspace',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'x' }, { 'tag-bindings': { data: Array.from({ length: 11 }, (_, n) => tag(`k${n}`)) } }),
      status: 422,
      problems: [['/data/relationships/tag-bindings/data', 'cannot exceed 10 bindings per resource']],
    },
    {
      what: 'a flat tag with a space',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [flat('fine'), flat('not fine')] },
      status: 422,
      problems: [['/data/1/attributes/name', /^Name may only contain/]],
    },
    {
      what: 'a flat tag without a name',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [{ type: 'tags', attributes: {} }] },
      status: 422,
      problems: [['/data/0/attributes/name', "Name can't be blank"]],
    },
    {
      what: 'a flat tag by an id that nobody has',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [{ type: 'tags', id: 'tag-nowhere' }] },
      status: 404,
    },
    {
      what: 'things that are no tags',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [{ type: 'workspaces', id: '{workspace}' }] },
      status: 422,
      problems: [['/data/0/type']],
    },
    {
      what: 'one where a list is wanted',
      send: 'DELETE /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: flat('x') },
      status: 422,
      problems: [['/data']],
    },
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

const big = `{"data":{"attributes":{"name":"${'x'.repeat(10_000_000)}"}}}`;

describe('a body that cannot be read', () => {
  it.each<Bad>([
    { what: 'broken JSON', send: `POST ${WORKSPACES}`, body: '{"data":', status: 400 },
    { what: 'no JSON at all', send: `POST ${WORKSPACES}`, body: 'name=one', status: 400 },
    {
      what: 'bytes that are no UTF-8',
      send: `POST ${WORKSPACES}`,
      body: new Uint8Array([0xff, 0xfe, 0x7b]),
      status: 400,
    },
    { what: 'a poisoned prototype', send: `POST ${WORKSPACES}`, body: '{"__proto__":{"x":1}}', status: 400 },
    {
      what: 'JSON that is nested a hundred thousand deep',
      send: `POST ${WORKSPACES}`,
      body: `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      status: 422,
    },
    {
      what: 'a form',
      send: `POST ${WORKSPACES}`,
      body: 'name=one',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      status: 415,
    },
    {
      what: 'plain text',
      send: `POST ${WORKSPACES}`,
      body: '{}',
      headers: { 'content-type': 'text/plain' },
      status: 415,
    },
    {
      what: 'bytes',
      send: `POST ${WORKSPACES}`,
      body: '{}',
      headers: { 'content-type': 'application/octet-stream' },
      status: 415,
    },
    {
      what: 'a media type that is none',
      send: `POST ${WORKSPACES}`,
      body: '{}',
      headers: { 'content-type': 'nonsense' },
      status: 415,
    },
    { what: '10 MB', send: `POST ${WORKSPACES}`, body: big, status: 413 },
    { what: '10 MB for a lock', send: 'POST /api/v2/workspaces/{workspace}/actions/lock', body: big, status: 413 },
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('ids and names that lead nowhere', () => {
  const ids = ['ws-nowhere', '{project}', 'null', '%20', '..%2F..', "'%20or%201=1", 'x'.repeat(400)];

  it.each<Bad>([
    ...ids.map((id): Bad => ({ what: 'no such workspace', send: `GET /api/v2/workspaces/${id}`, status: 404 })),
    { what: 'an id longer than any', send: `GET /api/v2/workspaces/${'x'.repeat(1_000)}`, status: 404 },
    { what: 'half an escape', send: 'GET /api/v2/workspaces/%', status: 400 },
    { what: 'an escape that is no UTF-8', send: 'GET /api/v2/workspaces/%FF', status: 400 },
    { what: 'a NUL', send: 'GET /api/v2/workspaces/%00', status: 400 },
    { what: 'no such route', send: 'GET /api/v2/nothing/here', status: 404 },
    { what: 'no such method', send: 'PUT /api/v2/workspaces/{workspace}', body: workspace({}), status: 404 },
    { what: 'no such name', send: `GET ${WORKSPACES}/none`, status: 404 },
    { what: 'a name with a NUL', send: `GET ${WORKSPACES}/%00`, status: 400 },
    { what: 'no such organization', send: 'GET /api/v2/organizations/nobody', status: 404 },
    {
      what: 'no such organization for a new workspace',
      send: 'POST /api/v2/organizations/nobody/workspaces',
      body: workspace({ name: 'x' }),
      status: 404,
    },
    { what: 'no such project', send: 'DELETE /api/v2/projects/prj-nowhere', status: 404 },
    { what: 'no such token', send: 'DELETE /api/v2/authentication-tokens/at-nowhere', status: 404 },
    ...['POST /api/v2/workspaces/ws-nowhere/actions/lock', 'DELETE /api/v2/workspaces/ws-nowhere'].map((line): Bad => ({
      what: 'nothing to act on',
      send: line as Bad['send'],
      status: 404,
    })),
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('parameters that are wrong', () => {
  it.each<Bad>([
    {
      what: 'an unknown include',
      send: 'GET /api/v2/workspaces/{workspace}?include=moon',
      status: 400,
      problems: [[null, /include parameter/]],
    },
    { what: 'page 0', send: `GET ${WORKSPACES}?page%5Bnumber%5D=0`, status: 400 },
    { what: 'page -1', send: `GET ${WORKSPACES}?page%5Bnumber%5D=-1`, status: 400 },
    { what: 'page one', send: `GET ${WORKSPACES}?page%5Bnumber%5D=one`, status: 400 },
    { what: 'half a page', send: `GET ${WORKSPACES}?page%5Bsize%5D=0.5`, status: 400 },
    { what: 'a page number beyond all', send: `GET ${WORKSPACES}?page%5Bnumber%5D=99999999999999999999`, status: 400 },
    { what: 'a search for a NUL', send: `GET ${WORKSPACES}?search%5Bname%5D=%00`, status: 400 },
    { what: 'an order that is none', send: `GET ${WORKSPACES}?sort=colour`, status: 400 },
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each([
    ['a page past the end', `${WORKSPACES}?page%5Bnumber%5D=999999999&page%5Bsize%5D=100`],
    ['a search that is broken UTF-8', `${WORKSPACES}?search%5Bname%5D=%FF`],
    ['a pattern of wildcards', `${WORKSPACES}?search%5Bwildcard-name%5D=${encodeURIComponent('%_\\*')}z`],
  ])('%s finds nothing, which is no error', async (_, path) => {
    const { status, body } = await server.get(path);
    expect({ status, data: body.data }).toEqual({ status: 200, data: [] });
  });
});

describe('callers who may not', () => {
  const routes: readonly Bad['send'][] = [
    'GET /api/v2/organizations/acme',
    `GET ${WORKSPACES}`,
    `POST ${WORKSPACES}`,
    `GET ${WORKSPACES}/one`,
    'GET /api/v2/workspaces/{workspace}',
    'PATCH /api/v2/workspaces/{workspace}',
    'DELETE /api/v2/workspaces/{workspace}',
    'POST /api/v2/workspaces/{workspace}/actions/lock',
    'POST /api/v2/workspaces/{locked}/actions/unlock',
    'POST /api/v2/workspaces/{locked}/actions/force-unlock',
    'POST /api/v2/workspaces/{workspace}/actions/safe-delete',
    'GET /api/v2/workspaces/{workspace}/tag-bindings',
    'GET /api/v2/projects/{project}',
    'PATCH /api/v2/projects/{project}',
    'DELETE /api/v2/projects/{full}',
    'GET /api/v2/teams/{team}',
    'POST /api/v2/teams/{team}/authentication-token',
    'GET /api/v2/organizations/acme/authentication-token',
    'DELETE /api/v2/organizations/acme',
  ];
  const body = (line: string): object =>
    line.startsWith('GET') ? {} : { body: resource(line.includes('projects') ? 'projects' : '', { name: 'mine' }) };

  it.each(
    routes.map((line): Bad => ({
      what: 'another organization’s',
      send: line,
      ...body(line),
      as: '{otherToken}',
      status: 404,
    })),
  )('learn nothing of what is $what: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each(routes.map((line): Bad => ({ what: 'no token', send: line, ...body(line), as: null, status: 401 })))(
    'are told that they have no token: $send',
    async (bad) => {
      await expectRefusal(bad);
    },
  );

  it.each<Bad>([
    { what: 'a token that nobody issued', send: 'GET /api/v2/account/details', as: 'x.atlasv1.y', status: 401 },
    { what: 'half a header', send: 'GET /api/v2/account/details', as: '', status: 401 },
    {
      what: 'another scheme',
      send: 'GET /api/v2/account/details',
      headers: { authorization: 'Basic YTpi' },
      as: null,
      status: 401,
    },
    {
      what: 'a token of another organization by its id',
      send: 'DELETE /api/v2/authentication-tokens/{otherTokenId}',
      as: '{acmeToken}',
      status: 404,
    },
  ])('are refused with $what', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('what stands in the way', () => {
  it.each<Bad>([
    {
      what: 'a lock that is held',
      send: 'POST /api/v2/workspaces/{locked}/actions/lock',
      status: 409,
      problems: [[null, 'Unable to lock workspace. The workspace is already locked by User admin']],
    },
    {
      what: 'somebody else’s lock',
      send: 'POST /api/v2/workspaces/{locked}/actions/unlock',
      as: '{acmeToken}',
      status: 409,
      problems: [[null, /is locked by User admin/]],
    },
    {
      what: 'a lock that is not there',
      send: 'POST /api/v2/workspaces/{workspace}/actions/unlock',
      status: 409,
      problems: [[null, /^(?!.*is locked by)/]],
    },
    {
      what: 'a lock, for a safe deletion',
      send: 'POST /api/v2/workspaces/{locked}/actions/safe-delete',
      status: 409,
      problems: [[null, /locked/]],
    },
    { what: 'workspaces in a project', send: 'DELETE /api/v2/projects/{full}', status: 422 },
    { what: 'being the default project', send: 'DELETE /api/v2/projects/{project}', status: 422 },
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('states that are wrong', () => {
  const versions: Bad['send'] = 'POST /api/v2/workspaces/{locked}/state-versions';
  const next = (overrides: object = {}): object => {
    const { serial, lineage, bytes, md5 } = stateFile({ serial: 6, lineage: PENDING.lineage });
    return resource('state-versions', { serial, lineage, md5, state: bytes.toString('base64'), ...overrides });
  };

  it.each<Bad>([
    { what: 'no attributes', send: versions, body: { data: {} }, status: 422, problems: [['/data/attributes']] },
    {
      what: 'nothing of what is needed',
      send: versions,
      body: resource('state-versions'),
      status: 422,
      problems: [['/data/attributes/serial'], ['/data/attributes/md5']],
    },
    {
      what: 'a serial below 0',
      send: versions,
      body: next({ serial: -1 }),
      status: 422,
      problems: [['/data/attributes/serial']],
    },
    {
      what: 'half a serial',
      send: versions,
      body: next({ serial: 6.5 }),
      status: 422,
      problems: [['/data/attributes/serial']],
    },
    {
      what: 'a serial beyond all',
      send: versions,
      body: next({ serial: 1e300 }),
      status: 422,
      problems: [['/data/attributes/serial']],
    },
    {
      what: 'an MD5 that is none',
      send: versions,
      body: next({ md5: 'none' }),
      status: 422,
      problems: [['/data/attributes/md5']],
    },
    {
      what: 'the MD5 of something else',
      send: versions,
      body: next({ md5: 'a'.repeat(32) }),
      status: 422,
      problems: [['/data/attributes/md5']],
    },
    {
      what: 'a state that is no Base64',
      send: versions,
      body: next({ state: '§' }),
      status: 422,
      problems: [['/data/attributes/state']],
    },
    {
      what: 'a lineage with a NUL',
      send: versions,
      body: next({ lineage: 'a\u0000' }),
      status: 422,
      problems: [['/data/attributes/lineage']],
    },
    { what: 'another lineage', send: versions, body: next({ lineage: 'another' }), status: 409 },
    { what: 'a serial that was', send: versions, body: next({ serial: 4 }), status: 409 },
    {
      what: 'a workspace that nobody holds',
      send: 'POST /api/v2/workspaces/{workspace}/state-versions',
      body: next(),
      status: 409,
    },
    { what: 'a workspace that somebody else holds', send: versions, body: next(), as: '{otherToken}', status: 404 },
    { what: 'no such workspace', send: 'POST /api/v2/workspaces/ws-nowhere/state-versions', body: next(), status: 404 },
    { what: 'a list without a filter', send: 'GET /api/v2/state-versions', status: 400 },
    { what: 'a version that is not there', send: 'GET /api/v2/state-versions/sv-nowhere', status: 404 },
    {
      what: 'a version whose file is not here yet',
      send: 'GET /api/v2/state-versions/{pending}/download',
      status: 404,
    },
    {
      what: 'another organization’s version',
      send: 'GET /api/v2/state-versions/{pending}',
      as: '{otherToken}',
      status: 404,
    },
    {
      what: 'a download without a token',
      send: 'GET /api/v2/state-versions/{pending}/download',
      as: null,
      status: 401,
    },
    { what: 'an output that is not there', send: 'GET /api/v2/state-version-outputs/wsout-nowhere', status: 404 },
    {
      what: 'an unlock while the upload is awaited',
      send: 'POST /api/v2/workspaces/{locked}/actions/unlock',
      status: 503,
      problems: [[null, /latest state version is still pending/]],
    },
  ])('$what: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each<Bad>([
    { what: 'that nobody signed', send: 'PUT /api/v2/state-versions/upload/nonsense', status: 403 },
    { what: 'for another file', send: 'PUT {otherFile}', status: 403 },
    { what: 'for another version', send: 'PUT {otherVersion}', status: 403 },
    { what: 'that lasts longer', send: 'PUT {otherTime}', status: 403 },
    { what: 'with another signature', send: 'PUT {otherSignature}', status: 403 },
    { what: 'without its signature', send: 'PUT {noSignature}', status: 403 },
    { what: 'without its claim', send: 'PUT {noClaim}', status: 403 },
    { what: 'with a claim that is no JSON', send: 'PUT {noJson}', status: 403 },
  ])('a link $what lets nobody in: $send', async (bad) => {
    await expectRefusal({ ...bad, body: new Uint8Array(PENDING.bytes), as: null });
  });

  it.each([
    ['other bytes than were announced', new Uint8Array(stateFile({ serial: 5 }).bytes)],
    ['nothing', new Uint8Array(0)],
  ])('a good link is no good for %s', async (_, body) => {
    await expectRefusal({ what: '', send: 'PUT {upload}', body, as: null, status: 422 });
  });

  it.each([
    ['no JSON', Buffer.from('{"version":')],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['not an object', Buffer.from('[]')],
    [
      'outputs with names that cannot be stored',
      stateFile({ outputs: { 'a\u0000b': { value: 1, type: 'number' } } }).bytes,
    ],
    ['outputs whose type is none', stateFile({ outputs: { out: { value: 1, type: ['nonsense'] } } }).bytes],
    [
      'an output as deep as a well',
      Buffer.from(`{"version":4,"serial":6,"outputs":{"a":{"value":${'['.repeat(50_000)}${']'.repeat(50_000)}}}}`),
    ],
  ])('a state that is or has %s is not accepted, whatever its MD5', async (_, bytes) => {
    const md5 = createHash('md5').update(bytes).digest('hex');
    await expectRefusal({
      what: '',
      send: versions,
      body: next({ md5, state: bytes.toString('base64') }),
      status: 422,
    });
  });
});

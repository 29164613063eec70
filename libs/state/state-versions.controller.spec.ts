import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import { verify, viewsOf } from '#event-store';
import { makeOrganization, makeOrganizationToken, makeToken, resource } from '../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../test/support/server.js';
import { stateSlice } from './index.js';
import { aState, lockedWorkspace, stateRequests, unlock } from './spec.js';

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const { createBody, postState } = stateRequests(md5Of);

let server: TestServer;
let organization: Awaited<ReturnType<typeof makeOrganization>>;

beforeAll(async () => {
  server = await startTestServer();
  organization = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

describe('a state version that brings its state along', () => {
  it('is created finalized, becomes current by unlocking, and is one document everywhere', async () => {
    const id = await lockedWorkspace(server, 'inline');
    const bytes = aState({ serial: 3, outputs: { vpc: { value: 'vpc-1', type: 'string' } } });
    const created = await postState(server, id, { serial: 3, state: bytes.toString('base64') }, bytes);
    expect(created.status).toBe(201);
    const version = created.body.data;
    expect(version).toMatchObject({
      type: 'state-versions',
      attributes: {
        serial: 3,
        size: bytes.length,
        status: 'finalized',
        intermediate: true,
        'resources-processed': true,
        'state-version': 4,
        'terraform-version': '1.13.4',
        'hosted-state-upload-url': null,
        'hosted-json-state-upload-url': null,
        'hosted-json-state-download-url': null,
        'vcs-commit-sha': null,
        'vcs-commit-url': null,
        modules: { root: { 'null-resource': 2 } },
        providers: { 'provider["registry.terraform.io/hashicorp/null"]': { 'null-resource': 2 } },
      },
      relationships: {
        run: { data: null },
        workspace: { data: { type: 'workspaces', id } },
        'created-by': { data: { type: 'users' } },
        outputs: { data: [{ type: 'state-version-outputs' }] },
      },
      links: { self: `/api/v2/state-versions/${version.id}` },
    });
    expect(version.id).toMatch(/^sv-[A-Za-z0-9]{16}$/);
    expect(version.attributes['created-at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await server.get(`/api/v2/workspaces/${id}/current-state-version`)).status).toBe(404);
    await unlock(server, id);
    const current = await server.get(`/api/v2/workspaces/${id}/current-state-version`);
    const shown = await server.get(`/api/v2/state-versions/${version.id}`);
    const list = await server.get(
      '/api/v2/state-versions?filter[workspace][name]=inline&filter[organization][name]=acme',
    );
    expect(current.body.data.attributes.intermediate).toBe(false);
    expect(shown.body.data).toEqual(current.body.data);
    expect(list.body.data).toEqual([current.body.data]);
    const workspace = await server.get(`/api/v2/workspaces/${id}`);
    expect(workspace.body.data.attributes['resource-count']).toBe(2);
    expect(workspace.body.data.relationships['current-state-version'].data.id).toBe(version.id);
  });

  it('gives it back byte for byte, with a token only', async () => {
    const id = await lockedWorkspace(server, 'bytes');
    const bytes = Buffer.concat([aState({ serial: 1 }), Buffer.from('\n\n  ')]);
    const json = Buffer.from('{"format_version":"1.0"}');
    const state = { serial: 1, state: bytes.toString('base64'), 'json-state': json.toString('base64') };
    const { attributes } = (await postState(server, id, state, bytes)).body.data;
    for (const [name, sent] of [
      ['hosted-state-download-url', bytes],
      ['hosted-json-state-download-url', json],
    ] as const) {
      expect(attributes[name]).toMatch(/^https?:\/\/[^/]+\/api\/v2\//);
      const path = new URL(attributes[name] as string).pathname;
      const answer = await server.get(path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(answer.headers.get('content-length')).toBe(String(sent.length));
      expect(answer.text).toBe(sent.toString());
      expect((await server.as(null).get(path)).status).toBe(401);
    }
  });

  it.each([
    ['md5', { md5: '00000000000000000000000000000000' }, 422, /Md5 is not that of the state/],
    ['md5', { md5: 'nonsense' }, 422, /Md5 must be/],
    ['md5', { md5: undefined }, 422, /Md5 can't be blank/],
    ['serial', { serial: undefined }, 422, /Serial can't be blank/],
    ['serial', { serial: '4' }, 422, /Serial must be/],
    ['serial', { serial: 1.5 }, 422, /Serial must be/],
    ['serial', { serial: -1 }, 422, /Serial/],
    ['state', { state: 'not base64!' }, 422, /State must be Base64/],
    ['state', { state: 'abc' }, 422, /State must be Base64/],
    ['json-state', { 'json-state': '%%%%' }, 422, /Json state must be Base64/],
    ['lineage', { lineage: 'a\0b' }, 422, /Lineage/],
  ])('is refused where %s is wrong: %j', async (attribute, wrong, status, detail) => {
    const id = await lockedWorkspace(server);
    const bytes = aState();
    const answer = await postState(server, id, { state: bytes.toString('base64'), ...wrong }, bytes);
    expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([status, `/data/attributes/${attribute}`]);
    expect(answer.body.errors[0].detail).toMatch(detail);
    expect((await server.get(`/api/v2/workspaces/${id}/state-versions`)).status).toBe(404);
  });

  it.each([
    ['not JSON', 'hello'],
    ['not a state', '{}'],
    ['of an old format', '{"version":3,"serial":1}'],
  ])('is refused where the state is %s', async (_name, text) => {
    const id = await lockedWorkspace(server);
    const bytes = Buffer.from(text);
    const answer = await postState(server, id, { state: bytes.toString('base64') }, bytes);
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].detail).toMatch(/The state file cannot be read/);
  });

  it('may come in a body larger than others', async () => {
    const id = await lockedWorkspace(server, 'large');
    const bytes = aState({ outputs: { big: { value: 'x'.repeat(6_000_000), type: 'string' } } });
    const created = await postState(server, id, { state: bytes.toString('base64') }, bytes);
    expect(created.status).toBe(201);
    const path = new URL(created.body.data.attributes['hosted-state-download-url'] as string).pathname;
    expect(md5Of(Buffer.from((await server.get(path)).text))).toBe(md5Of(bytes));
  });

  it('takes MD5 in capitals and Base64 in lines', async () => {
    const id = await lockedWorkspace(server);
    const bytes = aState();
    const lines = bytes.toString('base64').replaceAll(/.{76}/g, '$&\n');
    expect((await postState(server, id, { state: lines, md5: md5Of(bytes).toUpperCase() }, bytes)).status).toBe(201);
  });
});

describe('the rules of the state’s head, over HTTP', () => {
  it('want the workspace locked, by the caller', async () => {
    const id = await lockedWorkspace(server);
    const team = server.as(await makeToken(server, `/api/v2/teams/${organization.ownersTeam}/authentication-token`));
    const other = await postState(team, id, {}, aState());
    expect([other.status, other.body.errors[0].detail]).toEqual([409, expect.stringContaining('is locked by User')]);
    await unlock(server, id);
    const open = await postState(server, id, { state: aState().toString('base64') }, aState());
    expect([open.status, open.body.errors[0].detail]).toEqual([409, expect.stringContaining('Lock the workspace')]);
  });

  it('refuse stale serials and foreign lineages unless forced', async () => {
    const id = await lockedWorkspace(server);
    const version = (serial: number, lineage: string, more: object = {}) => {
      const bytes = aState({ serial, lineage, name: `n${serial}` });
      return postState(server, id, { serial, lineage, state: bytes.toString('base64'), ...more }, bytes);
    };
    expect((await version(5, 'a')).status).toBe(201);
    expect((await version(4, 'a')).status).toBe(409);
    expect((await version(6, 'b')).status).toBe(409);
    expect((await version(1, 'b', { force: true })).status).toBe(201);
    await unlock(server, id);
    const current = await server.get(`/api/v2/workspaces/${id}/current-state-version`);
    expect(current.body.data.attributes.serial).toBe(1);
  });

  it('answer a repetition with the version that is there, and refuse the same serial with other content', async () => {
    const id = await lockedWorkspace(server);
    const bytes = aState({ serial: 2 });
    const first = await postState(server, id, { serial: 2, state: bytes.toString('base64') }, bytes);
    const again = await postState(server, id, { serial: 2, state: bytes.toString('base64') }, bytes);
    const pending = await postState(server, id, { serial: 2 }, bytes);
    expect([again.status, pending.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(pending.body).toEqual(first.body);
    expect((await postState(server, id, { serial: 2 }, aState({ name: 'other' }))).status).toBe(409);
  });

  it('let an inline repetition complete a version that was never uploaded', async () => {
    const id = await lockedWorkspace(server);
    const bytes = aState({ serial: 2 });
    const first = await postState(server, id, { serial: 2 }, bytes);
    const json = Buffer.from('{}').toString('base64');
    const inline = { serial: 2, state: bytes.toString('base64'), 'json-state': json };
    const again = await postState(server, id, inline, bytes);
    expect(again.body.data).toMatchObject({ id: first.body.data.id, attributes: { status: 'finalized' } });
    const { attributes } = again.body.data;
    const path = new URL(attributes['hosted-state-download-url'] as string).pathname;
    expect((await server.get(path)).text).toBe(bytes.toString());
    expect(attributes['hosted-json-state-download-url']).not.toBeNull();
  });

  it('make one version of many equal requests at once', async () => {
    const id = await lockedWorkspace(server);
    const bytes = aState({ serial: 2 });
    const body = { serial: 2, state: bytes.toString('base64') };
    const answers = await Promise.all(Array.from({ length: 8 }, () => postState(server, id, body, bytes)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const ids = new Set(answers.map(({ body: { data } }) => data.id as string));
    expect(ids.size).toBe(1);
    const [version] = ids;
    expect((await server.get(`/api/v2/state-versions/${version}/download`)).text).toBe(bytes.toString());
  });
});

describe('who may', () => {
  it('is said by the permission table: strangers see nothing, an organization’s token uploads nothing', async () => {
    const id = await lockedWorkspace(server, 'guarded');
    const created = await postState(server, id, { state: aState().toString('base64') }, aState());
    const version = created.body.data.id as string;
    await unlock(server, id);
    await makeOrganization(server, 'elsewhere');
    const stranger = server.as(await makeOrganizationToken(server, 'elsewhere'));
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const reads = [
      `workspaces/${id}/current-state-version`,
      `workspaces/${id}/current-state-version-outputs`,
      `workspaces/${id}/resources`,
      `state-versions/${version}`,
      `state-versions/${version}/outputs`,
      `state-versions/${version}/download`,
      'state-versions?filter[workspace][name]=guarded&filter[organization][name]=acme',
    ];
    for (const path of reads) {
      expect([path, (await stranger.get(`/api/v2/${path}`)).status]).toEqual([path, 404]);
      expect([path, (await server.as(null).get(`/api/v2/${path}`)).status]).toEqual([path, 401]);
      expect([path, (await token.get(`/api/v2/${path}`)).status]).toEqual([path, 200]);
    }
    expect((await postState(token, id, {}, aState())).status).toBe(404);
    expect((await postState(stranger, id, {}, aState())).status).toBe(404);
    expect((await postState(server.as(null), id, {}, aState())).status).toBe(401);
  });

  it('shows upload links to who may create state alone', async () => {
    const id = await lockedWorkspace(server);
    const created = await postState(server, id, {}, aState());
    const path = `/api/v2/state-versions/${created.body.data.id as string}`;
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expect((await server.get(path)).body.data.attributes['hosted-state-upload-url']).not.toBeNull();
    expect((await token.get(path)).body.data.attributes['hosted-state-upload-url']).toBeNull();
  });
});

describe('lists and includes', () => {
  it('page newest first, with the true total past the end', async () => {
    const id = await lockedWorkspace(server, 'paged');
    for (let serial = 1; serial <= 5; serial += 1) {
      const bytes = aState({ serial });
      await postState(server, id, { serial, ...(serial < 5 ? { state: bytes.toString('base64') } : {}) }, bytes);
    }
    const query = 'filter[workspace][name]=paged&filter[organization][name]=acme';
    const page = async (more: string) => (await server.get(`/api/v2/state-versions?${query}${more}`)).body;
    const serials = (body: { data: { attributes: { serial: number } }[] }) =>
      body.data.map(({ attributes }) => attributes.serial);
    expect(serials(await page(''))).toEqual([5, 4, 3, 2, 1]);
    expect(serials(await page('&page[size]=2&page[number]=2'))).toEqual([3, 2]);
    expect(serials(await page('&filter[status]=pending'))).toEqual([5]);
    const past = await page('&page[size]=2&page[number]=9');
    expect(past.data).toEqual([]);
    expect(past.meta.pagination).toMatchObject({ 'current-page': 9, 'total-count': 5, 'total-pages': 3 });
  });

  it('of a workspace without state are empty; of none are not found; without filters are a bad request', async () => {
    await lockedWorkspace(server, 'stateless');
    const list = (query: string) => server.get(`/api/v2/state-versions?${query}`);
    const empty = await list('filter[workspace][name]=stateless&filter[organization][name]=acme');
    expect([empty.status, empty.body.data, empty.body.meta.pagination['total-pages']]).toEqual([200, [], 0]);
    expect((await list('filter[workspace][name]=nowhere&filter[organization][name]=acme')).status).toBe(404);
    expect((await list('filter[workspace][name]=stateless')).status).toBe(400);
    expect((await list('')).status).toBe(400);
  });

  it('include outputs with their values, and who made it; refuse what they do not know', async () => {
    const id = await lockedWorkspace(server);
    const outputs = { a: { value: 1, type: 'number' }, s: { value: 'x', type: 'string', sensitive: true } };
    const bytes = aState({ outputs });
    await postState(server, id, { state: bytes.toString('base64') }, bytes);
    await unlock(server, id);
    const path = `/api/v2/workspaces/${id}/current-state-version`;
    const { body } = await server.get(`${path}?include=outputs,created-by,run,run.created_by`);
    expect(body.included).toMatchObject([
      { type: 'users', attributes: { username: 'admin' } },
      { type: 'state-version-outputs', attributes: { name: 'a', value: 1 } },
      { type: 'state-version-outputs', attributes: { name: 's', value: 'x', sensitive: true } },
    ]);
    expect((await server.get(path)).body.included).toBeUndefined();
    const unknown = await server.get(`${path}?include=outputs,plan`);
    expect([unknown.status, unknown.body.errors[0].detail]).toEqual([
      400,
      expect.stringContaining('include parameter'),
    ]);
  });
});

describe('the log and the views', () => {
  it('hold no value of any output, and no state', async () => {
    const id = await lockedWorkspace(server);
    const bytes = aState({ outputs: { password: { value: 'hunter2-in-clear', type: 'string', sensitive: true } } });
    expect((await postState(server, id, { state: bytes.toString('base64') }, bytes)).status).toBe(201);
    await unlock(server, id);
    const text = JSON.stringify(
      await server.database.rows(sql`
        select (select jsonb_agg(e) from event_store.events e) as events,
               (select jsonb_agg(s) from event_store.streams s) as streams,
               (select jsonb_agg(v) from state_versions v) as versions,
               (select jsonb_agg(o) from state_version_outputs o) as outputs`),
    );
    expect(text).toContain('password');
    expect(text).not.toContain('hunter2');
  });

  it('forget the versions of workspaces and organizations that are deleted', async () => {
    await makeOrganization(server, 'brief');
    const ids = [await lockedWorkspace(server, 'gone'), await lockedWorkspace(server, 'gone-too', 'brief')];
    const outputs = { a: { value: 1, type: 'number' } };
    const bytes = aState({ outputs });
    const versions: string[] = [];
    for (const id of ids) {
      const { body } = await postState(server, id, { state: bytes.toString('base64') }, bytes);
      versions.push(body.data.id as string);
    }
    expect((await server.delete(`/api/v2/workspaces/${ids[0]}`)).status).toBe(204);
    expect((await server.delete('/api/v2/organizations/brief')).status).toBe(204);
    for (const version of versions) expect((await server.get(`/api/v2/state-versions/${version}`)).status).toBe(404);
    const left = await server.database.row<{ n: number }>(sql`
      select (select count(*) from state_versions where workspace = any (${ids}::text[]))
           + (select count(*) from state_version_outputs where workspace = any (${ids}::text[])) as n`);
    expect(left?.n).toBe(0);
  });

  it('agree: what the log says is what the views hold', async () => {
    for (const view of viewsOf([stateSlice])) {
      expect(await verify(server.store, view, new Date())).toEqual([]);
    }
  });

  it('read a document with one statement, and create one with a check, a decision and a look at it', async () => {
    const id = await lockedWorkspace(server);
    const bytes = aState();
    const { body } = await postState(server, id, { serial: 1, state: bytes.toString('base64') }, bytes);
    // The signal to followers goes out later and belongs to no request.
    await setTimeout(50);
    server.store.signal.notify = () => undefined;
    const counted = async (work: () => Promise<unknown>): Promise<number> => {
      const before = server.database.count.roundTrips;
      await work();
      return server.database.count.roundTrips - before;
    };
    const show = `/api/v2/state-versions/${body.data.id as string}?include=outputs`;
    expect(await counted(() => server.get(show))).toBe(1);
    const next = aState({ serial: 2 });
    const inline = { serial: 2, state: next.toString('base64') };
    expect(await counted(() => postState(server, id, inline, next))).toBe(4);
  });
});

it('a workspace that is not there has no states, and a body of another type makes none', async () => {
  const post = (body: object) => server.post('/api/v2/workspaces/ws-none/state-versions', body);
  expect((await post(createBody({}, aState()))).status).toBe(404);
  expect((await post(resource('workspaces'))).status).toBe(422);
  expect((await server.get('/api/v2/workspaces/ws-none/current-state-version')).status).toBe(404);
});

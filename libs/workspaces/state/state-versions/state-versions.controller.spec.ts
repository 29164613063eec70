import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeToken,
  related,
  resource,
} from '../../../../test/support/seeds.js';
import { costOf } from '../../../../test/support/cost.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { stateDefinition } from '../index.js';
import { createStateFile, LINEAGE, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const { createBody, postState } = createStateRequests(md5Of);

let server: TestServer;
let organization: Awaited<ReturnType<typeof makeOrganization>>;

beforeAll(async () => {
  server = await startTestServer();
  organization = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

describe('a state version with its state in the request', () => {
  it('is created finalized, becomes current by unlocking, and has the same document everywhere', async () => {
    const id = await createLockedWorkspace(server, 'inline');
    const bytes = createStateFile({ serial: 3, outputs: { vpc: { value: 'vpc-1', type: 'string' } } });
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
        resources: [
          {
            name: 'it',
            type: 'null_resource',
            count: 2,
            module: 'root',
            provider: 'provider["registry.terraform.io/hashicorp/null"]',
          },
        ],
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
    const latestChange = async () =>
      (await server.get(`/api/v2/workspaces/${id}`)).body.data.attributes['latest-change-at'] as string;
    expect(await latestChange()).toBe(version.attributes['created-at']);
    await unlock(server, id);
    expect(await latestChange()).toBe(version.attributes['created-at']);
    const current = await server.get(`/api/v2/workspaces/${id}/current-state-version`);
    const document = await server.get(`/api/v2/state-versions/${version.id}`);
    const list = await server.get(
      '/api/v2/state-versions?filter[workspace][name]=inline&filter[organization][name]=acme',
    );
    expect(current.body.data.attributes.intermediate).toBe(false);
    expect(document.body.data).toEqual(current.body.data);
    expect(list.body.data).toEqual([current.body.data]);
    const workspace = await server.get(`/api/v2/workspaces/${id}`);
    expect(workspace.body.data.attributes['resource-count']).toBe(2);
    expect(workspace.body.data.relationships['current-state-version'].data.id).toBe(version.id);
  });

  it('returns its files byte for byte, only with a token', async () => {
    const id = await createLockedWorkspace(server, 'bytes');
    const bytes = Buffer.concat([createStateFile({ serial: 1 }), Buffer.from('\n\n  ')]);
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
    ['md5', { md5: '00000000000000000000000000000000' }, 422, /Md5 does not match the state/],
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
  ])('is refused if %s is invalid: %j', async (attribute, wrong, status, detail) => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile();
    const answer = await postState(server, id, { state: bytes.toString('base64'), ...wrong }, bytes);
    expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([status, `/data/attributes/${attribute}`]);
    expect(answer.body.errors[0].detail).toMatch(detail);
    expect((await server.get(`/api/v2/workspaces/${id}/state-versions`)).body.data).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['not JSON', 'hello'],
    ['not a state', '{}'],
    ['of an unknown format', '{"version":5,"serial":1}'],
  ])('is refused if the state is %s', async (_name, text) => {
    const id = await createLockedWorkspace(server);
    const bytes = Buffer.from(text);
    const answer = await postState(server, id, { state: bytes.toString('base64') }, bytes);
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].detail).toMatch(/The state file cannot be read/);
    expect((await server.post(`/api/v2/workspaces/${id}/actions/unlock`, {})).status).toBe(200);
  });

  it('may have a larger body than other requests', async () => {
    const id = await createLockedWorkspace(server, 'large');
    const bytes = createStateFile({ outputs: { big: { value: 'x'.repeat(6_000_000), type: 'string' } } });
    const created = await postState(server, id, { state: bytes.toString('base64') }, bytes);
    expect(created.status).toBe(201);
    const path = new URL(created.body.data.attributes['hosted-state-download-url'] as string).pathname;
    expect(md5Of(Buffer.from((await server.get(path)).text))).toBe(md5Of(bytes));
  });

  it('accepts MD5 in upper case and Base64 with line breaks', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile();
    const lines = bytes.toString('base64').replaceAll(/.{76}/g, '$&\n');
    expect((await postState(server, id, { state: lines, md5: md5Of(bytes).toUpperCase() }, bytes)).status).toBe(201);
  });
});

describe('creating state versions over HTTP', () => {
  it('requires that the caller has locked the workspace', async () => {
    const id = await createLockedWorkspace(server);
    const team = server.as(await makeToken(server, `/api/v2/teams/${organization.ownersTeam}/authentication-token`));
    const otherHolder = await postState(team, id, {}, createStateFile());
    expect([otherHolder.status, otherHolder.body.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('is locked by User'),
    ]);
    await unlock(server, id);
    const open = await postState(server, id, { state: createStateFile().toString('base64') }, createStateFile());
    expect([open.status, open.body.errors[0].detail]).toEqual([409, expect.stringContaining('Lock the workspace')]);
  });

  it('refuses an old serial or another lineage unless forced', async () => {
    const id = await createLockedWorkspace(server);
    const version = (serial: number, lineage: string, more: object = {}) => {
      const bytes = createStateFile({ serial, lineage, name: `n${serial}` });
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

  it('returns the existing version for a repeated request, and refuses other content with the same serial', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile({ serial: 2 });
    const first = await postState(server, id, { serial: 2, state: bytes.toString('base64') }, bytes);
    const repeated = await postState(server, id, { serial: 2, state: bytes.toString('base64') }, bytes);
    const pending = await postState(server, id, { serial: 2 }, bytes);
    expect([repeated.status, pending.status]).toEqual([201, 201]);
    expect(repeated.body).toEqual(first.body);
    expect(pending.body).toEqual(first.body);
    expect((await postState(server, id, { serial: 2 }, createStateFile({ name: 'other' }))).status).toBe(409);
  });

  it('creates a new version of the same content under a new lock', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile({ serial: 2 });
    const body = { serial: 2, state: bytes.toString('base64') };
    const first = (await postState(server, id, body, bytes)).body.data;
    await unlock(server, id);
    await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    const second = await postState(server, id, body, bytes);
    expect([second.status, second.body.data.id === first.id]).toEqual([201, false]);
    await unlock(server, id);
    const current = await server.get(`/api/v2/workspaces/${id}/current-state-version`);
    expect(current.body.data.id).toBe(second.body.data.id);
    expect((await server.get(`/api/v2/state-versions/${second.body.data.id}/download`)).text).toBe(bytes.toString());
    const list = await server.get(`/api/v2/workspaces/${id}/state-versions`);
    expect(list.body.data.map((version: { id: string }) => version.id)).toEqual([second.body.data.id, first.id]);
    const act = (action: string) =>
      server.post(`/api/v2/state-versions/${first.id}/actions/${action}_backing_data`).then(({ status }) => status);
    const actions = ['soft_delete', 'restore', 'soft_delete', 'permanently_delete'];
    const statuses: number[] = [];
    for (const action of actions) statuses.push(await act(action));
    expect(statuses).toEqual([200, 200, 200, 200]);
    const restored = await server.post(`/api/v2/state-versions/${first.id}/actions/restore_backing_data`);
    expect([restored.status, restored.body.errors[0].detail]).toEqual([
      400,
      expect.stringContaining('transition not allowed'),
    ]);
  });

  it('completes a pending version if the request is repeated with the state', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile({ serial: 2 });
    const first = await postState(server, id, { serial: 2 }, bytes);
    const json = Buffer.from('{}').toString('base64');
    const inline = { serial: 2, state: bytes.toString('base64'), 'json-state': json };
    const repeated = await postState(server, id, inline, bytes);
    expect(repeated.body.data).toMatchObject({ id: first.body.data.id, attributes: { status: 'finalized' } });
    const { attributes } = repeated.body.data;
    const path = new URL(attributes['hosted-state-download-url'] as string).pathname;
    expect((await server.get(path)).text).toBe(bytes.toString());
    expect(attributes['hosted-json-state-download-url']).not.toBeNull();
  });

  it('creates one version from many equal simultaneous requests', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile({ serial: 2 });
    const body = { serial: 2, state: bytes.toString('base64') };
    const answers = await Promise.all(Array.from({ length: 8 }, () => postState(server, id, body, bytes)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const ids = new Set(answers.map(({ body: { data } }) => data.id as string));
    expect(ids.size).toBe(1);
    const [version] = ids;
    expect((await server.get(`/api/v2/state-versions/${version}/download`)).text).toBe(bytes.toString());
  });
});

describe('permissions on state versions', () => {
  it('follow the permission table: other organizations see nothing, an organization token cannot upload', async () => {
    const id = await createLockedWorkspace(server, 'guarded');
    const created = await postState(server, id, { state: createStateFile().toString('base64') }, createStateFile());
    const version = created.body.data.id as string;
    await unlock(server, id);
    await makeOrganization(server, 'elsewhere');
    const stranger = server.as(await makeOrganizationToken(server, 'elsewhere'));
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const reads = [
      `workspaces/${id}/current-state-version`,
      `workspaces/${id}/current-state-version-outputs`,
      `workspaces/${id}/resources`,
      `workspaces/${id}/state-versions`,
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
    expect((await postState(token, id, {}, createStateFile())).status).toBe(404);
    expect((await postState(stranger, id, {}, createStateFile())).status).toBe(404);
    expect((await postState(server.as(null), id, {}, createStateFile())).status).toBe(401);
  });

  it('follow the access of a team to the workspace, and exceed it nowhere', async () => {
    const id = await createLockedWorkspace(server, 'given');
    const versions: string[] = [];
    for (const serial of [1, 2]) {
      const bytes = createStateFile({ serial, outputs: { a: { value: serial, type: 'number' } } });
      const response = await postState(server, id, { serial, state: bytes.toString('base64') }, bytes);
      versions.push(response.body.data.id as string);
    }
    await unlock(server, id);
    const [old, current] = versions;
    const outputs = (await server.get(`/api/v2/state-versions/${current}/outputs`)).body.data;
    const READS = {
      'read-outputs': [
        `state-versions/${current}/outputs`,
        `state-version-outputs/${outputs[0].id}`,
        `workspaces/${id}/current-state-version-outputs`,
      ],
      read: [
        `state-versions/${current}`,
        `state-versions/${current}/download`,
        `workspaces/${id}/current-state-version`,
        `workspaces/${id}/state-versions`,
        `workspaces/${id}/resources`,
        'state-versions?filter[workspace][name]=given&filter[organization][name]=acme',
      ],
    };
    const STEPS = ['none', 'read-outputs', 'read', 'write', 'admin'] as const;
    for (const [step, level] of STEPS.entries()) {
      const team = await makeTeam(server, 'acme', level);
      const fields =
        level === 'admin' ? { access: 'admin' } : { access: 'custom', runs: 'read', 'state-versions': level };
      const relationships = {
        team: { data: { type: 'teams', id: team } },
        workspace: { data: { type: 'workspaces', id } },
      };
      expect(
        (await server.post('/api/v2/team-workspaces', resource('team-workspaces', fields, relationships))).status,
      ).toBe(201);
      const api = await makeMember(server, 'acme', `somebody-with-${level}`, [team]);
      const readStatuses = async (paths: readonly string[]): Promise<number[]> =>
        Promise.all(paths.map(async (path) => (await api.get(`/api/v2/${path}`)).status));
      const allowed = (least: (typeof STEPS)[number], status = 200): number =>
        step >= STEPS.indexOf(least) ? status : 404;
      for (const least of ['read-outputs', 'read'] as const) {
        expect([level, await readStatuses(READS[least])]).toEqual([level, READS[least].map(() => allowed(least))]);
      }
      // Permitted, but the workspace is not locked.
      expect([level, (await postState(api, id, { serial: 9 }, createStateFile())).status]).toEqual([
        level,
        allowed('write', 409),
      ]);
      const rollback = {
        data: { relationships: { 'rollback-state-version': { data: related('state-versions', old ?? '').data[0] } } },
      };
      expect((await api.patch(`/api/v2/workspaces/${id}/state-versions`, rollback)).status).toBe(allowed('write', 409));
      const deleted = await api.post(`/api/v2/state-versions/${old}/actions/soft_delete_backing_data`);
      expect([level, deleted.status]).toEqual([level, allowed('admin')]);
    }
  });

  it('show upload links only to callers that can create state', async () => {
    const id = await createLockedWorkspace(server);
    const created = await postState(server, id, {}, createStateFile());
    const path = `/api/v2/state-versions/${created.body.data.id as string}`;
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expect((await server.get(path)).body.data.attributes['hosted-state-upload-url']).not.toBeNull();
    expect((await token.get(path)).body.data.attributes['hosted-state-upload-url']).toBeNull();
  });
});

describe('lists and the parameter include', () => {
  it('have pages, newest first, and the total count also past the end', async () => {
    const id = await createLockedWorkspace(server, 'paged');
    for (let serial = 1; serial <= 5; serial += 1) {
      const bytes = createStateFile({ serial });
      await postState(server, id, { serial, ...(serial < 5 ? { state: bytes.toString('base64') } : {}) }, bytes);
    }
    const query = 'filter[workspace][name]=paged&filter[organization][name]=acme';
    const page = async (more: string) => (await server.get(`/api/v2/state-versions?${query}${more}`)).body;
    const serials = (body: { data: { attributes: { serial: number } }[] }) =>
      body.data.map(({ attributes }) => attributes.serial);
    expect(serials(await page(''))).toEqual([5, 4, 3, 2, 1]);
    expect(serials(await page('&page[size]=2&page[number]=2'))).toEqual([3, 2]);
    expect(serials(await page('&filter[status]=pending'))).toEqual([5]);
    const byId = (await server.get(`/api/v2/workspaces/${id}/state-versions?page[size]=2&page[number]=2`)).body;
    expect([serials(byId), byId.meta.pagination['total-count']]).toEqual([[3, 2], 5]);
    expect((await server.get('/api/v2/workspaces/ws-none/state-versions')).status).toBe(404);
    const past = await page('&page[size]=2&page[number]=9');
    expect(past.data).toEqual([]);
    expect(past.meta.pagination).toMatchObject({ 'current-page': 9, 'total-count': 5, 'total-pages': 3 });
  });

  it('return an empty list for a workspace without state, 404 for an unknown workspace, and 400 without filters', async () => {
    await createLockedWorkspace(server, 'stateless');
    const list = (query: string) => server.get(`/api/v2/state-versions?${query}`);
    const empty = await list('filter[workspace][name]=stateless&filter[organization][name]=acme');
    expect([empty.status, empty.body.data, empty.body.meta.pagination['total-pages']]).toEqual([200, [], 0]);
    expect((await list('filter[workspace][name]=nowhere&filter[organization][name]=acme')).status).toBe(404);
    expect((await list('filter[workspace][name]=stateless')).status).toBe(400);
    expect((await list('')).status).toBe(400);
  });

  it('return outputs with all digits of their numbers', async () => {
    const id = await createLockedWorkspace(server);
    const written = createStateFile({ outputs: { a: { value: 'the number', type: 'number' } } }).toString();
    const bytes = Buffer.from(written.replace('"the number"', '9007199254740993'));
    await postState(server, id, { state: bytes.toString('base64') }, bytes);
    await unlock(server, id);
    for (const path of ['/current-state-version', '']) {
      const response = await fetch(`${server.url}/api/v2/workspaces/${id}${path}?include=outputs`, {
        headers: { authorization: `Bearer ${server.adminToken}` },
      });
      expect(await response.text()).toContain('"value":9007199254740993');
    }
  });

  it('include outputs with their values and the creator, and refuse unknown includes', async () => {
    const id = await createLockedWorkspace(server);
    const outputs = { a: { value: 1, type: 'number' }, s: { value: 'x', type: 'string', sensitive: true } };
    const bytes = createStateFile({ outputs });
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
    const list = (await server.get(`/api/v2/workspaces/${id}/state-versions?include=outputs,created_by`)).body;
    expect(list.included.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      'state-version-outputs',
      'state-version-outputs',
      'users',
    ]);
    expect((await server.get(`/api/v2/workspaces/${id}/state-versions?include=plan`)).status).toBe(400);
    const unknown = await server.get(`${path}?include=outputs,plan`);
    expect([unknown.status, unknown.body.errors[0].detail]).toEqual([
      400,
      expect.stringContaining('include parameter'),
    ]);
  });
});

describe('including many outputs', () => {
  const included = async (outputs: object): Promise<readonly (readonly any[])[]> => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile({ outputs });
    expect((await postState(server, id, { state: bytes.toString('base64') }, bytes)).status).toBe(201);
    await unlock(server, id);
    const answers = ['/current-state-version', ''].map((path) =>
      server.get(`/api/v2/workspaces/${id}${path}?include=outputs`),
    );
    return (await Promise.all(answers)).map(({ body }) => {
      expect(body.data.relationships.outputs.data).toHaveLength(body.included.length);
      return body.included as any[];
    });
  };

  it('brings all of them with their values', async () => {
    const value = 'c'.repeat(60_000);
    const outputs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`cert_${n}`, { value, type: 'string' }]));
    for (const resources of await included(outputs)) {
      expect(resources).toHaveLength(40);
      expect(resources.every(({ attributes }) => attributes.value === value)).toBe(true);
      expect(resources.some(({ attributes }) => 'value-omitted' in attributes)).toBe(false);
    }
  });

  it('marks values that do not fit into the document, and returns them at their own address', async () => {
    const numbers = Array.from({ length: 100_000 }, (_, n) => n + 0.5);
    const type = ['list', 'number'];
    const outputs = { a: { value: numbers, type }, b: { value: 'short', type: 'string' } };
    for (const resources of await included(outputs)) {
      expect(
        resources.map(({ attributes }) => [attributes.name, attributes.value, attributes['value-omitted']]),
      ).toEqual([
        ['a', undefined, true],
        ['b', 'short', undefined],
      ]);
      const own = await server.get(`/api/v2/state-version-outputs/${resources[0].id}`);
      expect(own.body.data.attributes.value).toEqual(numbers);
    }
  });
});

describe('a serial or lineage that the file does not have', () => {
  const FILE = { serial: 5, lineage: '7f3a2b60-1111-2222-3333-444455556666' };
  const send = async (workspace: string, attributes: object): Promise<ApiResponse> => {
    const bytes = createStateFile(FILE);
    return postState(server, workspace, { ...FILE, ...attributes, state: bytes.toString('base64') }, bytes);
  };

  it.each([
    [{ serial: 6 }, 'serial', 'Serial 6 is above the serial of the state file, 5'],
    [{ serial: 7, lineage: 'other', force: true }, 'serial', 'Serial 7 is above the serial of the state file, 5'],
    [{ lineage: 'other' }, 'lineage', `Lineage other is not the lineage of the state file, ${FILE.lineage}`],
  ])('is refused without storing anything: %j', async (attributes, attribute, detail) => {
    const id = await createLockedWorkspace(server);
    const { status, body } = await send(id, attributes);
    expect([status, body.errors]).toMatchObject([
      422,
      [{ detail, source: { pointer: `/data/attributes/${attribute}` } }],
    ]);
    expect((await server.get(`/api/v2/workspaces/${id}/state-versions`)).body.data).toEqual([]);
    await unlock(server, id);
  });

  it('is accepted if the serial is below that of the file, as migration tools and tests of go-tfe send it', async () => {
    const id = await createLockedWorkspace(server);
    const lineage = '741c4949-60b9-5bb1-5bf8-b14f4bb14af3';
    expect((await send(id, { serial: 1, lineage })).status).toBe(201);
    const forced = { serial: 2, lineage: '821c4747-a0b9-3bd1-8bf3-c14f4bb14be7', force: true };
    expect((await send(id, forced)).status).toBe(201);
    await unlock(server, id);
  });

  it('lets the next upload continue with the lineage and the serial of the file', async () => {
    const id = await createLockedWorkspace(server);
    expect((await send(id, { serial: 1, lineage: 'label' })).status).toBe(201);
    const next = { serial: 6, lineage: FILE.lineage };
    const bytes = createStateFile(next);
    const other = createStateFile({ ...next, lineage: 'other' });
    const refused = await postState(server, id, { ...next, lineage: 'other', state: other.toString('base64') }, other);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(FILE.lineage)]);
    expect((await postState(server, id, { ...next, state: bytes.toString('base64') }, bytes)).status).toBe(201);
    await unlock(server, id);
  });
});

describe('a state of Terraform 0.11 and older', () => {
  it.each([1, 2, 3])('is stored byte for byte in format %i, with its outputs and resources', async (version) => {
    const isFirst = version === 1;
    const vpc = { type: 'aws_vpc', primary: { id: 'vpc-1' }, provider: 'provider.aws' };
    const outputs = { vpc_id: isFirst ? 'vpc-1' : { sensitive: false, type: 'string', value: 'vpc-1' } };
    const modules = [{ path: ['root'], outputs, resources: { 'aws_vpc.main': vpc } }];
    const lineage = isFirst ? null : LINEAGE;
    const bytes = Buffer.from(
      JSON.stringify({ version, serial: 12, ...(isFirst ? {} : { lineage }), modules }, null, 4),
    );
    const id = await createLockedWorkspace(server);
    const created = await postState(server, id, { serial: 12, lineage, state: bytes.toString('base64') }, bytes);
    expect([created.status, created.body.data?.attributes]).toMatchObject([
      201,
      { status: 'finalized', 'state-version': version, serial: 12 },
    ]);
    await unlock(server, id);
    const download = new URL(created.body.data.attributes['hosted-state-download-url'] as string).pathname;
    expect((await server.get(download)).text).toBe(bytes.toString());
    const { body: current } = await server.get(`/api/v2/workspaces/${id}/current-state-version?include=outputs`);
    expect(current.included).toMatchObject([{ attributes: { name: 'vpc_id', type: 'string', value: 'vpc-1' } }]);
    const { body: listed } = await server.get(`/api/v2/workspaces/${id}/resources`);
    expect(listed.data).toMatchObject([
      { attributes: { address: 'aws_vpc.main', provider: 'provider.aws', 'provider-type': 'aws_vpc' } },
    ]);
    expect((await server.get(`/api/v2/workspaces/${id}`)).body.data.attributes['resource-count']).toBe(1);
  });
});

describe('the run of a state version', () => {
  const withRun = async (workspace: string, run: string, include = ''): Promise<ApiResponse> => {
    const bytes = createStateFile();
    const inline = { serial: 1, lineage: LINEAGE, md5: md5Of(bytes), state: bytes.toString('base64') };
    const body = resource('state-versions', inline, { run: { data: { type: 'runs', id: run } } });
    return server.post(`/api/v2/workspaces/${workspace}/state-versions${include}`, body);
  };

  /** Creates a run that does not lock the workspace. */
  const aPlan = async (workspace: string): Promise<string> => {
    await makeConfigurationVersion(server, workspace, { speculative: true });
    return makeRun(server, workspace);
  };

  it('is shown, and can be included with its related resources', async () => {
    const workspace = await createLockedWorkspace(server, 'run-here');
    const run = await aPlan(workspace);
    const created = await withRun(workspace, run);
    expect(created.status).toBe(201);
    const { id, relationships } = created.body.data;
    expect(relationships.run.data).toEqual({ type: 'runs', id: run });
    const { body } = await server.get(
      `/api/v2/state-versions/${id}?include=run,run.created_by,run.configuration_version`,
    );
    const types = body.included.map(({ type }: { type: string }) => type);
    expect(types.toSorted()).toEqual(['configuration-versions', 'runs', 'users']);
    expect(body.included.find(({ type }: { type: string }) => type === 'runs').id).toBe(run);
  });

  it('must belong to the same workspace, and the error reveals nothing about other runs', async () => {
    const elsewhere = await aPlan(await createLockedWorkspace(server, 'run-there'));
    const workspace = await createLockedWorkspace(server, 'no-run');
    for (const run of [elsewhere, 'run-none', 'x'.repeat(10_000)]) {
      const answer = await withRun(workspace, run);
      expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, '/data/relationships/run/data/id']);
    }
  });
});

describe('rolling back', () => {
  const rollBack = (api: ApiTestClient, workspace: string, version: string): Promise<ApiResponse> =>
    api.patch(`/api/v2/workspaces/${workspace}/state-versions`, {
      data: {
        type: 'state-versions',
        relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: version } } },
      },
    });
  const textOf = async (version: { attributes: Record<string, string> }, form = ''): Promise<string> =>
    (await server.get(new URL(version.attributes[`hosted-${form}state-download-url`] ?? '').pathname)).text;

  /** Creates a locked workspace with two versions. Returns its id and those of the versions. */
  const withTwo = async (name: string): Promise<readonly [workspace: string, first: string, second: string]> => {
    const workspace = await createLockedWorkspace(server, name);
    const ids: string[] = [];
    for (const serial of [1, 7]) {
      const bytes = createStateFile({
        serial,
        name: `n${serial}`,
        outputs: { which: { value: serial, type: 'number' } },
      });
      const json = Buffer.from(`{"format_version":"1.0","which":${serial}}`).toString('base64');
      const inline = { serial, state: bytes.toString('base64'), 'json-state': json };
      ids.push((await postState(server, workspace, inline, bytes)).body.data.id as string);
    }
    const [first = '', second = ''] = ids;
    return [workspace, first, second];
  };

  it('creates a version of the old state with the next serial, which becomes current at unlock', async () => {
    const [workspace, first, second] = await withTwo('rolled-back');
    await unlock(server, workspace);
    await server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
    const answer = await rollBack(server, workspace, first);
    expect(answer.status).toBe(201);
    const version = answer.body.data;
    expect(version).toMatchObject({
      attributes: { serial: 8, status: 'finalized', intermediate: true },
      relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: first } }, run: { data: null } },
    });
    const text = await textOf(version);
    expect(text).toBe(
      createStateFile({ serial: 1, name: 'n1', outputs: { which: { value: 1, type: 'number' } } })
        .toString()
        .replace('"serial": 1', '"serial": 8'),
    );
    expect(await textOf(version, 'json-')).toBe('{"format_version":"1.0","which":1}');
    const current = async () => (await server.get(`/api/v2/workspaces/${workspace}/current-state-version`)).body.data;
    expect((await current()).id).toBe(second);
    await unlock(server, workspace);
    expect(await current()).toMatchObject({ id: version.id, attributes: { intermediate: false } });
    // The client continues from this version as from any other.
    await server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
    const next = createStateFile({ serial: 9 });
    expect((await postState(server, workspace, { serial: 9, state: next.toString('base64') }, next)).status).toBe(201);
  });

  it('can undo a change of the lineage', async () => {
    const [workspace, first] = await withTwo('other-lineage');
    const otherState = createStateFile({ serial: 9, lineage: 'other' });
    const forced = { serial: 9, lineage: 'other', force: true, state: otherState.toString('base64') };
    expect((await postState(server, workspace, forced, otherState)).status).toBe(201);
    const answer = await rollBack(server, workspace, first);
    expect([answer.status, answer.body.data.attributes.serial]).toEqual([201, 10]);
    expect(JSON.parse(await textOf(answer.body.data))).toMatchObject({ serial: 10, lineage: LINEAGE });
  });

  it('replaces a version that was never uploaded', async () => {
    const [workspace, first] = await withTwo('given-up');
    const never = (await postState(server, workspace, { serial: 8 }, createStateFile({ serial: 8 }))).body.data
      .id as string;
    expect((await rollBack(server, workspace, first)).body.data.attributes).toMatchObject({
      serial: 8,
      status: 'finalized',
    });
    expect((await server.get(`/api/v2/state-versions/${never}`)).body.data.attributes.status).toBe('discarded');
    await unlock(server, workspace);
  });

  it('requires the lock of the caller, and leaves no file if it is refused', async () => {
    const [workspace, first] = await withTwo('unlocked');
    const team = server.as(await makeToken(server, `/api/v2/teams/${organization.ownersTeam}/authentication-token`));
    const before = await readdir(join(server.runtime.settings.blobsFolder, 'state-versions'), { recursive: true });
    const otherHolder = await rollBack(team, workspace, first);
    expect([otherHolder.status, otherHolder.body.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('is locked by User'),
    ]);
    await unlock(server, workspace);
    const open = await rollBack(server, workspace, first);
    expect([open.status, open.body.errors[0].detail]).toEqual([409, expect.stringContaining('Lock the workspace')]);
    const filesIn = (names: readonly string[]): readonly string[] => names.filter((name) => name.endsWith('state'));
    const after = await readdir(join(server.runtime.settings.blobsFolder, 'state-versions'), { recursive: true });
    expect(filesIn(after)).toEqual(filesIn(before));
  });

  it('requires a version of the same workspace that has a state, and points to the wrong id', async () => {
    const [workspace] = await withTwo('here');
    const [, foreign] = await withTwo('there');
    const pending = (await postState(server, workspace, { serial: 9 }, createStateFile({ serial: 9 }))).body.data
      .id as string;
    for (const version of [foreign, 'sv-none', pending]) {
      const answer = await rollBack(server, workspace, version);
      expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([
        422,
        '/data/relationships/rollback-state-version/data/id',
      ]);
    }
    const path = `/api/v2/workspaces/${workspace}/state-versions`;
    for (const body of [undefined, {}, resource('state-versions'), resource('workspaces'), { data: [] }]) {
      expect((await server.patch(path, body)).status).toBe(422);
    }
  });

  it('is refused for an encrypted state, because its serial cannot be changed', async () => {
    const workspace = await createLockedWorkspace(server, 'sealed');
    const encrypted = Buffer.from(
      JSON.stringify({ serial: 1, lineage: LINEAGE, meta: {}, encrypted_data: 'AAAA', encryption_version: 'v0' }),
    );
    const response = await postState(server, workspace, { state: encrypted.toString('base64') }, encrypted);
    expect(response.status).toBe(201);
    expect((await rollBack(server, workspace, response.body.data.id as string)).status).toBe(409);
  });

  it('requires the permission to create state', async () => {
    const [workspace, first] = await withTwo('guarded-too');
    await makeOrganization(server, 'strangers');
    for (const name of ['acme', 'strangers']) {
      const token = server.as(await makeOrganizationToken(server, name));
      expect((await rollBack(token, workspace, first)).status).toBe(404);
    }
    expect((await rollBack(server, 'ws-none', first)).status).toBe(404);
  });
});

describe('the log and the views of state versions', () => {
  it('contain no value of an output, and no state', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile({
      outputs: { password: { value: 'hunter2-in-clear', type: 'string', sensitive: true } },
    });
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

  it('contain no versions of deleted workspaces and organizations', async () => {
    await makeOrganization(server, 'brief');
    const ids = [await createLockedWorkspace(server, 'gone'), await createLockedWorkspace(server, 'gone-too', 'brief')];
    const outputs = { a: { value: 1, type: 'number' } };
    const bytes = createStateFile({ outputs });
    const versions: string[] = [];
    for (const id of ids) {
      const { body } = await postState(server, id, { state: bytes.toString('base64') }, bytes);
      versions.push(body.data.id as string);
    }
    expect((await server.delete(`/api/v2/workspaces/${ids[0]}`)).status).toBe(204);
    expect((await server.delete(`/api/v2/recoverable-items/${ids[0]}`)).status).toBe(204);
    expect((await server.delete('/api/v2/organizations/brief')).status).toBe(204);
    for (const version of versions) expect((await server.get(`/api/v2/state-versions/${version}`)).status).toBe(404);
    const remaining = await server.database.row<{ n: number }>(sql`
      select (select count(*) from state_versions where workspace = any (${ids}::text[]))
           + (select count(*) from state_version_outputs where workspace = any (${ids}::text[])) as n`);
    expect(remaining?.n).toBe(0);
  });

  it('are consistent: rebuilt views equal the live ones', async () => {
    await expectViewsMatchLog(server, [stateDefinition]);
  });

  it('take one round trip to read a document, and four to create one', async () => {
    const id = await createLockedWorkspace(server);
    const bytes = createStateFile();
    const { body } = await postState(server, id, { serial: 1, state: bytes.toString('base64') }, bytes);
    const show = `/api/v2/state-versions/${body.data.id as string}?include=outputs`;
    expect(await costOf(server, () => server.get(show))).toMatchObject({ status: 200, roundTrips: 1 });
    const next = createStateFile({ serial: 2 });
    const inline = { serial: 2, state: next.toString('base64') };
    const create = () => postState(server, id, inline, next);
    expect(await costOf(server, create)).toMatchObject({ status: 201, roundTrips: 4 });
  });
});

it('an unknown workspace returns 404, and a body of another type 422', async () => {
  const post = (body: object) => server.post('/api/v2/workspaces/ws-none/state-versions', body);
  expect((await post(createBody({}, createStateFile()))).status).toBe(404);
  expect((await post(resource('workspaces'))).status).toBe(404);
  const id = await createLockedWorkspace(server);
  expect((await server.post(`/api/v2/workspaces/${id}/state-versions`, resource('workspaces'))).status).toBe(422);
  expect((await server.post(`/api/v2/workspaces/${id}/state-versions`)).status).toBe(422);
  expect((await server.get('/api/v2/workspaces/ws-none/current-state-version')).status).toBe(404);
});

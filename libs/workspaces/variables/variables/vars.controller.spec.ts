import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeWorkspace,
  resource,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { variablesDefinition } from '../index.js';
import {
  createVariableBody,
  patchVariableBody,
  customAccess,
  idsIn,
  keysIn,
  makeSet,
  makeVariable,
  secretsOf,
  teamWith,
  vaultOf,
} from '../../../../test/support/variables.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

let count = 0;
const makeNextWorkspace = async (): Promise<{ id: string; name: string; path: string }> => {
  count += 1;
  const name = `workspace-${count}`;
  const id = await makeWorkspace(server, 'acme', name);
  return { id, name, path: `/api/v2/workspaces/${id}/vars` };
};

describe('a variable of a workspace', () => {
  it('has the same document in every response', async () => {
    const { id, name, path } = await makeNextWorkspace();
    const created = expectStatus(await server.post(path, createVariableBody({ description: 'where' })), 201).body;
    const variable = created.data;
    expect(created).toEqual({
      data: {
        id: expect.stringMatching(/^var-[A-Za-z0-9]{16}$/),
        type: 'vars',
        attributes: {
          key: 'region',
          value: 'eu',
          description: 'where',
          category: 'terraform',
          hcl: false,
          sensitive: false,
          'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          'version-id': expect.stringMatching(/^[0-9a-f]{32}$/),
        },
        relationships: {
          configurable: {
            data: { type: 'workspaces', id },
            links: { related: `/api/v2/organizations/acme/workspaces/${name}` },
          },
        },
        links: { self: `${path}/${variable.id}` },
      },
    });
    expect(expectStatus(await server.get(`${path}/${variable.id}`), 200).body.data).toEqual(variable);
    expect(expectStatus(await server.get(path), 200).body.data).toEqual([variable]);
  });

  it('has defaults: an empty value, no description, neither HCL nor sensitive', async () => {
    const { path } = await makeNextWorkspace();
    const body = resource('vars', { key: 'A', category: 'env' });
    expect(expectStatus(await server.post(path, body), 201).body.data.attributes).toMatchObject({
      value: '',
      description: null,
      hcl: false,
      sensitive: false,
    });
  });

  it('changes only the named attributes, gets a new version-id, and is deleted', async () => {
    const { path } = await makeNextWorkspace();
    const { id, attributes } = await makeVariable(server, path);
    const change = { key: 'zone', value: '["a"]', hcl: true, description: 'which', category: 'terraform' };
    const after = expectStatus(await server.patch(`${path}/${id}`, patchVariableBody(change)), 200).body.data
      .attributes;
    expect(after).toMatchObject({ ...change, sensitive: false, 'created-at': attributes['created-at'] });
    expect(after['version-id']).not.toBe(attributes['version-id']);
    const cleared = await server.patch(`${path}/${id}`, patchVariableBody({ value: null, description: null }));
    expect(cleared.body.data.attributes).toMatchObject({ key: 'zone', value: '', description: null, hcl: true });
    expect(expectStatus(await server.delete(`${path}/${id}`), 204).text).toBe('');
    expectStatus(await server.get(`${path}/${id}`), 404);
    expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'x' })), 404);
    expectStatus(await server.delete(`${path}/${id}`), 404);
  });

  it('gets a new version-id and an audit entry from an update without attributes', async () => {
    const { path } = await makeNextWorkspace();
    const { id, attributes } = await makeVariable(server, path);
    const { 'version-id': before, ...attributesBefore } = attributes;
    const after = expectStatus(await server.patch(`${path}/${id}`, { data: { type: 'vars' } }), 200).body.data
      .attributes;
    expect(after).toMatchObject(attributesBefore);
    expect(after['version-id']).not.toBe(before);
    expect(expectStatus(await server.get(`${path}/${id}`), 200).body.data.attributes).toEqual(after);
    const reader = server.as(await makeOrganizationToken(server, 'acme'));
    const { data } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200).body;
    const updates = data.filter(({ resource }: any) => resource.id === id && resource.action === 'update');
    expect(updates.map(({ resource }: any) => resource.meta)).toEqual([{ attributes: [] }]);
  });

  it('accepts a key that begins with a digit and contains dashes', async () => {
    const { path } = await makeNextWorkspace();
    for (const category of ['terraform', 'env']) {
      const key = '0f9d4b1e-6c1d-4f3a-9d53-6f1c2b7a8e90';
      const { attributes } = await makeVariable(server, path, { key, category });
      expect(attributes).toMatchObject({ key, category });
    }
  });

  it('has a unique key in its category and workspace', async () => {
    const { path } = await makeNextWorkspace();
    const other = await makeNextWorkspace();
    await makeVariable(server, path);
    const rival = await makeVariable(server, path, { category: 'env' });
    await makeVariable(server, other.path);
    const keyTaken = { detail: 'Key has already been taken', source: { pointer: '/data/attributes/key' } };
    const second = expectStatus(await server.post(path, createVariableBody()), 422);
    expect(second.body.errors).toMatchObject([keyTaken]);
    const refusedMove = expectStatus(
      await server.patch(`${path}/${rival.id}`, patchVariableBody({ category: 'terraform' })),
      422,
    );
    expect(refusedMove.body.errors).toMatchObject([keyTaken]);
  });

  it('is created once if several requests compete for its key', async () => {
    const { path } = await makeNextWorkspace();
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.post(path, createVariableBody())));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 422)]);
  });

  it.each([
    ['no key', { key: undefined }, "Key can't be blank", 'key'],
    ['an empty key', { key: '' }, "Key can't be blank", 'key'],
    ['a key with a line break', { key: 'a\nb' }, 'Key is invalid: it must have no control characters', 'key'],
    [
      'a key with a space',
      { key: 'a b', category: 'env' },
      "Key is invalid: the key of an environment variable has no whitespace and no '='",
      'key',
    ],
    ['a key that is too long', { key: 'x'.repeat(257) }, 'Key is too long (at most 256 characters)', 'key'],
    ['no category', { category: undefined }, 'Category must be one of terraform, env', 'category'],
    ['an unknown category', { category: 'policy-set' }, 'Category must be one of terraform, env', 'category'],
    ['a number as value', { value: 5 }, 'Value must be a string', 'value'],
    [
      'a value that is too long',
      { value: 'x'.repeat(256 * 1024 + 1) },
      'Value is too long (at most 256 kilobytes)',
      'value',
    ],
    ['a NUL character', { value: 'nul \0' }, 'Value holds a character that cannot be stored', 'value'],
    ['a string for hcl', { hcl: 'yes' }, 'Hcl must be true or false', 'hcl'],
    ['a number for sensitive', { sensitive: 1 }, 'Sensitive must be true or false', 'sensitive'],
    [
      'a description that is too long',
      { description: 'd'.repeat(513) },
      'Description is too long (at most 512 characters)',
      'description',
    ],
  ])('is not created with %s', async (_, attributes, detail, attribute) => {
    const { path } = await makeNextWorkspace();
    const { errors } = expectStatus(await server.post(path, createVariableBody(attributes)), 422).body;
    expect(errors).toMatchObject([{ status: '422', detail, source: { pointer: `/data/attributes/${attribute}` } }]);
    expect(expectStatus(await server.get(path), 200).body.data).toEqual([]);
  });

  it('accepts a large value unchanged', async () => {
    const { path } = await makeNextWorkspace();
    const value = 'ü'.repeat(128 * 1024);
    const { id } = await makeVariable(server, path, { value });
    expect(expectStatus(await server.get(`${path}/${id}`), 200).body.data.attributes.value === value).toBe(true);
  });

  it('is refused if all values of the workspace have more than 4 megabytes, unless it is sensitive', async () => {
    const { path } = await makeNextWorkspace();
    const value = 'x'.repeat(256 * 1024);
    for (let n = 0; n < 16; n += 1) await makeVariable(server, path, { key: `large_${n}`, value });
    const { errors } = expectStatus(await server.post(path, createVariableBody({ key: 'more', value: 'x' })), 422).body;
    const detail = 'Value is too long: all values of a workspace or variable set together have at most 4 megabytes';
    expect(errors).toMatchObject([{ detail, source: { pointer: '/data/attributes/value' } }]);
    const secret = await makeVariable(server, path, { key: 'secret', value, sensitive: true });
    const { id } = await makeVariable(server, path, { key: 'empty', value: '' });
    expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'x' })), 422);
    expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ description: 'still empty' })), 200);
    expectStatus(await server.patch(`${path}/${secret.id}`, patchVariableBody({ value: 'other' })), 200);
  });

  it('is refused if the workspace already has a thousand variables', async () => {
    const { id, path } = await makeNextWorkspace();
    await server.database.rows(sql`
      insert into variables (id, organization, owner, global, key, category, value, hcl, sensitive, version, created_at)
      select 'var-' || n, ${acme.id}, ${id}, false, 'key_' || n, 'env', 'x', false, false, 1, now()
        from generate_series(1, 1000) n`);
    const { errors } = expectStatus(await server.post(path, createVariableBody({ key: 'more' })), 422).body;
    const detail = 'There are too many variables (at most 1000 in a workspace or variable set)';
    expect(errors).toMatchObject([{ detail }]);
    await server.database.rows(sql`delete from variables where owner = ${id}`);
  });

  it('is refused with another type, but accepted with an empty type', async () => {
    const { path } = await makeNextWorkspace();
    const answers = [];
    for (const type of ['varsets', '', 'vars']) {
      answers.push((await server.post(path, resource(type, { key: `of${type}`, category: 'env' }))).status);
    }
    expect(answers).toEqual([422, 201, 201]);
  });

  it('returns 404 under the path of another workspace', async () => {
    const [one, other] = [await makeNextWorkspace(), await makeNextWorkspace()];
    const { id } = await makeVariable(server, one.path);
    for (const path of [other.path, '/api/v2/workspaces/ws-nothing/vars']) {
      expectStatus(await server.get(`${path}/${id}`), 404);
      expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'x' })), 404);
      expectStatus(await server.delete(`${path}/${id}`), 404);
    }
    expect(idsIn(expectStatus(await server.get(one.path), 200).body)).toEqual([id]);
    expectStatus(await server.get('/api/v2/workspaces/ws-nothing/vars'), 404);
    expectStatus(await server.post('/api/v2/workspaces/ws-nothing/vars', createVariableBody()), 404);
  });

  it('is named in the workspace’s document', async () => {
    const { id, path } = await makeNextWorkspace();
    const zone = await makeVariable(server, path, { key: 'zone' });
    const region = await makeVariable(server, path);
    const { relationships } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data;
    expect(relationships.vars).toEqual({
      data: [
        { type: 'vars', id: region.id },
        { type: 'vars', id: zone.id },
      ],
    });
    const list = expectStatus(await server.get('/api/v2/organizations/acme/workspaces?page%5Bsize%5D=100'), 200);
    expect(list.body.data.find((one: any) => one.id === id).relationships.vars).toEqual(relationships.vars);
  });
});

describe('the list of a workspace’s variables', () => {
  it('is sorted by key, complete by default, and paged on request', async () => {
    const { path } = await makeNextWorkspace();
    const keys = Array.from({ length: 25 }, (_, n) => `key_${String.fromCharCode(97 + n)}`);
    for (const key of keys.toReversed()) await makeVariable(server, path, { key });
    const completeList = expectStatus(await server.get(path), 200);
    expect(keysIn(completeList)).toEqual(keys);
    expect(completeList.body.meta.pagination).toMatchObject({ 'current-page': 1, 'total-pages': 1, 'total-count': 25 });
    const second = expectStatus(await server.get(`${path}?page%5Bsize%5D=10&page%5Bnumber%5D=2`), 200);
    expect(keysIn(second)).toEqual(keys.slice(10, 20));
    expect(second.body.meta.pagination).toMatchObject({
      'current-page': 2,
      'next-page': 3,
      'total-pages': 3,
      'total-count': 25,
    });
    const past = expectStatus(await server.get(`${path}?page%5Bnumber%5D=9`), 200);
    expect(past.body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 25 } } });
    expectStatus(await server.get(`${path}?page%5Bsize%5D=none`), 400);
  });

  it('may be empty', async () => {
    const { path } = await makeNextWorkspace();
    expect(expectStatus(await server.get(path), 200).body).toMatchObject({
      data: [],
      meta: { pagination: { 'total-pages': 0, 'total-count': 0 } },
    });
  });
});

describe('a sensitive variable', () => {
  const SECRET = 'hunter2';

  it('has no value in documents, but in the vault', async () => {
    const { path } = await makeNextWorkspace();
    const variable = await makeVariable(server, path, { sensitive: true, value: SECRET });
    expect(variable.attributes).toMatchObject({ value: null, sensitive: true });
    expect(expectStatus(await server.get(`${path}/${variable.id}`), 200).body.data).toEqual(variable);
    expect(expectStatus(await server.get(path), 200).body.data).toEqual([variable]);
    expect(await vaultOf(server).open(variable.id)).toBe(SECRET);
  });

  it('accepts a new value, and keeps it if a client sends back the document that it has read', async () => {
    const { path } = await makeNextWorkspace();
    const { id, attributes } = await makeVariable(server, path, { sensitive: true, value: SECRET });
    const replaced = expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'next' })), 200).body
      .data;
    expect(replaced.attributes).toMatchObject({ value: null });
    expect(replaced.attributes['version-id']).not.toBe(attributes['version-id']);
    expect(await vaultOf(server).open(id)).toBe('next');
    const back = { ...replaced.attributes, description: 'mine' };
    expect(
      expectStatus(await server.patch(`${path}/${id}`, patchVariableBody(back)), 200).body.data.attributes,
    ).toMatchObject({
      description: 'mine',
      value: null,
    });
    expect(await vaultOf(server).open(id)).toBe('next');
  });

  it('can be made of a readable variable, but not the reverse', async () => {
    const { path } = await makeNextWorkspace();
    const { id } = await makeVariable(server, path);
    const covered = expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ sensitive: true })), 200).body
      .data;
    expect(covered.attributes).toMatchObject({ value: null, sensitive: true });
    expect(await vaultOf(server).open(id)).toBe('eu');
    for (const [change, pointer] of [
      [{ sensitive: false }, 'sensitive'],
      [{ sensitive: false, value: 'x' }, 'sensitive'],
      [{ key: 'other' }, 'key'],
    ] as const) {
      const { errors } = expectStatus(await server.patch(`${path}/${id}`, patchVariableBody(change)), 422).body;
      expect(errors).toMatchObject([{ source: { pointer: `/data/attributes/${pointer}` } }]);
    }
    expect(expectStatus(await server.get(`${path}/${id}`), 200).body.data).toEqual(covered);
    expect(await vaultOf(server).open(id)).toBe('eu');
  });

  it('keeps its value if its category changes', async () => {
    const { path } = await makeNextWorkspace();
    const { id } = await makeVariable(server, path, { sensitive: true, value: SECRET });
    const changed = expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ category: 'env' })), 200).body
      .data;
    expect(changed.attributes).toMatchObject({ category: 'env', sensitive: true, value: null });
    expect(await vaultOf(server).open(id)).toBe(SECRET);
  });

  it('leaves no row or secret behind if its workspace is deleted for good at the same time', async () => {
    const { id, path } = await makeNextWorkspace();
    const early = await makeVariable(server, path, { key: 'early', sensitive: true, value: SECRET });
    const race = Array.from({ length: 6 }, (_, n) => [
      server.post(path, createVariableBody({ key: `k${n}`, sensitive: true, value: SECRET })),
      server.patch(`${path}/${early.id}`, patchVariableBody({ value: `${SECRET} ${n}` })),
    ]).flat();
    const [deleted, ...raced] = await Promise.all([server.delete(`/api/v2/workspaces/${id}`), ...race]);
    expect(deleted?.status).toBe(204);
    for (const { status } of raced) expect([200, 201, 404]).toContain(status);
    expectStatus(await server.delete(`/api/v2/recoverable-items/${id}`), 204);
    const remaining = await server.database.rows(sql`
      select id from variables where owner = ${id}
       union all
      select id from vault.secrets s where organization = ${acme.id}
         and not exists (select 1 from variables v where v.id = s.id)`);
    expect(remaining).toEqual([]);
  });

  it('is removed from the vault with its deletion, its workspace or its organization', async () => {
    const { id: organization } = await makeOrganization(server, 'leaving');
    const workspace = await makeWorkspace(server, 'leaving', 'one');
    const staying = await makeWorkspace(server, 'leaving', 'two');
    const path = `/api/v2/workspaces/${workspace}/vars`;
    const secret = (key: string, at = path) => makeVariable(server, at, { key, sensitive: true, value: SECRET });
    const [one, two] = [await secret('a'), await secret('b')];
    const three = await secret('a', `/api/v2/workspaces/${staying}/vars`);
    expect(await secretsOf(server, organization)).toEqual([one.id, two.id, three.id].toSorted());
    expectStatus(await server.delete(`${path}/${one.id}`), 204);
    expect(await secretsOf(server, organization)).toEqual([two.id, three.id].toSorted());
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expectStatus(await server.delete(`/api/v2/recoverable-items/${workspace}`), 204);
    expect(await secretsOf(server, organization)).toEqual([three.id]);
    expectStatus(await server.delete(`/api/v2/vars/${two.id}`), 404);
    expectStatus(await server.delete('/api/v2/organizations/leaving'), 204);
    expect(await secretsOf(server, organization)).toEqual([]);
    const remaining = await server.database.rows(sql`select 1 from variables where organization = ${organization}`);
    expect(remaining).toEqual([]);
  });
});

describe('the older routes', () => {
  const filters = (name: string): string =>
    `filter%5Borganization%5D%5Bname%5D=acme&filter%5Bworkspace%5D%5Bname%5D=${name}`;

  it('list and create variables of a workspace that a filter or a relationship names', async () => {
    const { id, name, path } = await makeNextWorkspace();
    const byQuery = expectStatus(
      await server.post(`/api/v2/vars?${filters(name)}`, createVariableBody({ key: 'a' })),
      201,
    );
    const inBody = { organization: { name: 'acme' }, workspace: { name } };
    expectStatus(await server.post('/api/v2/vars', { ...createVariableBody({ key: 'b' }), filter: inBody }), 201);
    const attributes = { key: 'c', category: 'env' };
    const related = resource('vars', attributes, { workspace: { data: { type: 'workspaces', id } } });
    expectStatus(await server.post('/api/v2/vars', related), 201);
    const list = expectStatus(await server.get(`/api/v2/vars?${filters(name)}`), 200);
    expect(keysIn(list)).toEqual(['a', 'b', 'c']);
    expect(list.body.data).toEqual(expectStatus(await server.get(path), 200).body.data);
    expect(list.body.data[0]).toEqual(byQuery.body.data);
  });

  it('change and delete a variable by its id alone', async () => {
    const { path } = await makeNextWorkspace();
    const { id } = await makeVariable(server, path);
    const after = expectStatus(await server.patch(`/api/v2/vars/${id}`, patchVariableBody({ value: 'us' })), 200).body
      .data;
    expect(expectStatus(await server.get(`${path}/${id}`), 200).body.data).toEqual(after);
    expectStatus(await server.delete(`/api/v2/vars/${id}`), 204);
    expectStatus(await server.delete(`/api/v2/vars/${id}`), 404);
  });

  it('return 404 for variables of sets', async () => {
    const set = await makeSet(server, 'acme', 'not for the older routes');
    const path = `/api/v2/varsets/${set.id}/relationships/vars`;
    const { id } = await makeVariable(server, path);
    expectStatus(await server.patch(`/api/v2/vars/${id}`, patchVariableBody({ value: 'us' })), 404);
    expectStatus(await server.delete(`/api/v2/vars/${id}`), 404);
    expect(idsIn(expectStatus(await server.get(path), 200).body)).toEqual([id]);
  });

  it('require the workspace', async () => {
    const answers = [
      await server.get('/api/v2/vars'),
      await server.get('/api/v2/vars?filter%5Bworkspace%5D%5Bname%5D=one'),
      await server.post('/api/v2/vars', createVariableBody()),
      await server.get(`/api/v2/vars?${filters('nothing')}`),
      await server.post(`/api/v2/vars?${filters('nothing')}`, createVariableBody()),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404]);
  });
});

describe('permissions on variables', () => {
  const collectStatuses = async (api: ApiTestClient, path: string, id: string): Promise<number[]> => {
    const read = [await api.get(path), await api.get(`${path}/${id}`), await api.get(path.replace('vars', 'all-vars'))];
    const written = [
      await api.post(path, createVariableBody({ key: 'mine' })),
      await api.patch(`${path}/${id}`, patchVariableBody({ value: 'us' })),
      await api.patch(`/api/v2/vars/${id}`, patchVariableBody({ value: 'us' })),
      await api.delete(`${path}/${id}`),
    ];
    return [...read, ...written].map(({ status }) => status);
  };
  const [NOTHING, READING, WRITING] = [
    [404, 404, 404, 404, 404, 404, 404],
    [200, 200, 200, 404, 404, 404, 404],
    [200, 200, 200, 201, 200, 200, 204],
  ];

  it.each([
    ['none', NOTHING],
    ['read', READING],
    ['write', WRITING],
  ])('follow the access "%s" to variables of the workspace', async (variables, statuses) => {
    const { id: workspace, path } = await makeNextWorkspace();
    const team = await teamWith(server, 'acme', `vars-${variables}`, { workspace }, customAccess({ variables }));
    const { id } = await makeVariable(server, path);
    const { relationships } = expectStatus(await team.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(idsIn(relationships.vars)).toEqual(variables === 'none' ? [] : [id]);
    expect(await collectStatuses(team, path, id)).toEqual(statuses);
  });

  it('allow everything to the organization token, and nothing to a token of another organization', async () => {
    const { path } = await makeNextWorkspace();
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const first = await makeVariable(server, path);
    expect(await collectStatuses(token, path, first.id)).toEqual(WRITING);
    await makeOrganization(server, 'strangers');
    const stranger = server.as(await makeOrganizationToken(server, 'strangers'));
    const second = await makeVariable(server, path);
    expect(await collectStatuses(stranger, path, second.id)).toEqual(NOTHING);
    expectStatus(await server.as(null).get(path), 401);
  });
});

describe('events of variables', () => {
  it('are recorded in the audit trail without values', async () => {
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const { id: workspace, path } = await makeNextWorkspace();
    const { id } = await makeVariable(server, path, { key: 'told' });
    expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'us', sensitive: true })), 200);
    expectStatus(await server.delete(`${path}/${id}`), 204);
    const { data } = expectStatus(await token.get('/api/v2/organization/audit-trail'), 200).body;
    const entries = data.filter(({ resource: { id: of } }: any) => of === id).map((entry: any) => entry.resource);
    expect(entries).toEqual([
      { id, type: 'var', action: 'destroy', meta: { key: 'told' } },
      { id, type: 'var', action: 'update', meta: { attributes: ['value', 'sensitive'] } },
      { id, type: 'var', action: 'create', meta: { key: 'told', category: 'terraform', owner_id: workspace } },
    ]);
  });

  it('match the views and snapshots', async () => {
    await expectViewsMatchLog(server, [variablesDefinition]);
  });
});

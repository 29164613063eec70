import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readKey } from 'openpgp';
import { runBetween } from '../../../../test/support/interleaving.js';
import {
  addKey,
  GPG_KEYS,
  makeProvider,
  newUnsupportedKey,
  publishVersion,
  matchRefusalText,
  settleNeighbours,
} from '../../../../test/support/registry.js';
import { makeSigner, renewArmor, type Signer } from '../../../../test/support/releases.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  refusalOf,
  resource,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { registryDefinition } from '../index.js';

const ARMOR = '/data/attributes/ascii-armor';

let server: TestServer;
let signers: readonly Signer[];
let member: ApiTestClient;
let stranger: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  signers = await Promise.all([makeSigner(), makeSigner(), makeSigner()]);
  ({ member, stranger } = await settleNeighbours(server));
});

afterAll(() => server.close());

const signer = (n: number): Signer => signers[n] as Signer;
const byId = (namespace: string, { keyId }: Pick<Signer, 'keyId'>): string => `${GPG_KEYS}/${namespace}/${keyId}`;
const body = (attributes: object): object => resource('gpg-keys', attributes);
const list = (...namespaces: readonly string[]): string =>
  `${GPG_KEYS}?filter%5Bnamespace%5D=${namespaces.join('%2C')}`;
const keysIn = ({ body: { data } }: ApiResponse): [string, string][] =>
  data.map(({ attributes }: { attributes: { namespace: string; 'key-id': string } }) => [
    attributes.namespace,
    attributes['key-id'],
  ]);
const settle = async (name: string, ...keys: readonly Signer[]): Promise<void> => {
  await makeOrganization(server, name);
  for (const one of keys) expectStatus(await addKey(server, name, one), 201);
};

describe('a GPG key', () => {
  it('is added, and shown as the same document by its namespace and id and in the list', async () => {
    const answer = expectStatus(await addKey(server, 'acme', signer(0)), 201);
    const { keyId, armor } = signer(0);
    expect(keyId).toMatch(/^[0-9A-F]{16}$/);
    expect(answer.body.data).toEqual({
      id: expect.stringMatching(/^gpgkey-\w{16}$/),
      type: 'gpg-keys',
      attributes: {
        'ascii-armor': armor,
        'key-id': keyId,
        algorithm: 'RSA',
        'expires-at': null,
        'minimum-terraform-version': null,
        namespace: 'acme',
        source: '',
        'source-url': null,
        'trust-signature': '',
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        'updated-at': answer.body.data.attributes['created-at'],
      },
      links: { self: byId('acme', signer(0)) },
    });
    expect((await server.get(byId('acme', signer(0)))).body).toEqual(answer.body);
    expect((await server.get(byId('acme', { keyId: keyId.toLowerCase() }))).body).toEqual(answer.body);
    expect((await server.get(list('acme'))).body.data).toEqual([answer.body.data]);
  });

  it.each([
    ['with the id that terraform-provider-tfe sends', { type: 'gpg-keys', id: 'gpg-keys' }, 1],
    ['with an empty type', { type: '' }, 2],
  ])('is added if the request comes %s', async (_, more, n) => {
    const attributes = { namespace: 'acme', 'ascii-armor': signer(n).armor };
    const response = expectStatus(await server.post(GPG_KEYS, { data: { ...more, attributes } }), 201);
    expect(response.body.data.id).toMatch(/^gpgkey-/);
  });

  it('is added to an organization only once, however many requests add it at the same time', async () => {
    await settle('doubled', signer(0));
    expect(refusalOf(await addKey(server, 'doubled', signer(0)))).toEqual([
      '/data/attributes/key-id',
      'Key id has already been taken',
    ]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => addKey(server, 'doubled', signer(1))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(9).fill(422)]);
  });

  it('is refused with the reason if clients cannot use it', async () => {
    expect(refusalOf(await addKey(server, 'acme', { armor: await newUnsupportedKey() }))).toEqual([
      ARMOR,
      expect.stringMatching(/RSA, DSA, ed25519 and NIST keys only/),
    ]);
  });

  it.each([
    [{ 'ascii-armor': undefined }, ARMOR, "Ascii armor can't be blank"],
    [{ 'ascii-armor': '' }, ARMOR, /^Ascii armor/],
    [{ 'ascii-armor': 7 }, ARMOR, 'Ascii armor must be a string'],
    [{ 'ascii-armor': 'ssh-rsa AAAAB3NzaC1yc2E' }, ARMOR, /^Ascii armor is not/],
    [{ 'ascii-armor': 'x'.repeat(65_537) }, ARMOR, /too long/],
    [{ 'ascii-armor': 'a\u0000' }, ARMOR, /cannot be stored/],
    [{ namespace: undefined }, '/data/attributes/namespace', "Namespace can't be blank"],
    [{ namespace: null }, '/data/attributes/namespace', "Namespace can't be blank"],
  ])('is refused if the attributes are %j', async (attributes, pointer, detail) => {
    const request = body({ namespace: 'acme', 'ascii-armor': signer(0).armor, ...attributes });
    expect(refusalOf(await server.post(GPG_KEYS, request))).toEqual([pointer, matchRefusalText(detail)]);
  });

  it('is refused without repeating its text if it is a private key', async () => {
    const answer = await addKey(server, 'acme', { armor: signer(0).privateKey });
    expect(refusalOf(answer)).toEqual([ARMOR, expect.stringMatching(/private key/)]);
    const secret = signer(0).privateKey.split('\n')[5] ?? '';
    expect(secret.length).toBeGreaterThan(40);
    expect(answer.text).not.toContain(secret);
  });

  it('is refused for another resource type or an organization that does not exist', async () => {
    const attributes = { namespace: 'acme', 'ascii-armor': signer(0).armor };
    expect(refusalOf(await server.post(GPG_KEYS, resource('ssh-keys', attributes)))[0]).toBe('/data/type');
    for (const namespace of ['nowhere', ''])
      expectStatus(await server.post(GPG_KEYS, body({ ...attributes, namespace })), 404);
  });

  it('is removed and can be added again', async () => {
    await settle('removing', signer(0));
    const path = byId('removing', signer(0));
    expectStatus(await server.delete(path), 204);
    expectStatus(await server.get(path), 404);
    expectStatus(await server.delete(path), 404);
    expect(keysIn(expectStatus(await server.get(list('removing')), 200))).toEqual([]);
    expectStatus(await addKey(server, 'removing', signer(0)), 201);
    expectStatus(await server.delete(`${GPG_KEYS}/removing/${signer(0).keyId.toLowerCase()}`), 204);
  });

  it('is not added if the organization is deleted during the request', async () => {
    await settle('ending');
    runBetween(server.store, () => server.delete('/api/v2/organizations/ending'));
    expect((await addKey(server, 'ending', signer(0))).status).toBe(404);
  });
});

describe('renewing a GPG key', () => {
  const TEN_YEARS = 10 * 365 * 24 * 60 * 60;
  const send = (method: 'post' | 'patch', namespace: string, one: Signer, armor: string): Promise<ApiResponse> =>
    method === 'post'
      ? addKey(server, namespace, { armor })
      : server.patch(byId(namespace, one), body({ 'ascii-armor': armor }));

  it.each([
    ['post', 201],
    ['patch', 200],
  ] as const)('replaces the text of the same key by %s, and published versions stay usable', async (method, status) => {
    const namespace = `renewing-${method}`;
    const one = await makeSigner({ subkey: true });
    await settle(namespace, one);
    await makeProvider(server, namespace, 'aws');
    const path = await publishVersion(server, namespace, 'aws', '1.0.0', one);
    const before = (await server.get(byId(namespace, one))).body.data;
    const armor = await renewArmor(one, TEN_YEARS);
    const answer = expectStatus(await send(method, namespace, one, armor), status).body.data;
    expect(answer).toEqual({
      ...before,
      attributes: {
        ...before.attributes,
        'ascii-armor': armor,
        'expires-at': '2035-12-30T00:00:00.000Z',
        'updated-at': expect.any(String),
      },
    });
    expect((await server.get(byId(namespace, one))).body.data).toEqual(answer);
    expect((await server.get(path)).body.data.attributes).toMatchObject({ usable: true, missing: [] });
    const client = `/api/registry/v1/providers/${namespace}/aws/1.0.0/download/linux/amd64`;
    const [key] = expectStatus(await server.get(client), 200).body.signing_keys.gpg_public_keys;
    expect(key.ascii_armor).toBe(armor);
    await publishVersion(server, namespace, 'aws', '1.1.0', one);
    const reader = server.as(await makeOrganizationToken(server, namespace));
    const { body: trail } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    const entries = trail.data.filter(({ resource: { type } }: any) => type === 'gpg_key');
    expect(entries.map(({ resource: { action } }: any) => action)).toEqual(['update', 'create']);
  });

  it.each(['post', 'patch'] as const)(
    'is refused by %s for an older, a smaller, another or the same text',
    async (method) => {
      const namespace = `refusing-${method}`;
      const one = await makeSigner({ subkey: true });
      await settle(namespace, one);
      const armor = await renewArmor(one, TEN_YEARS);
      expectStatus(await send(method, namespace, one, armor), method === 'post' ? 201 : 200);
      const before = (await server.get(byId(namespace, one))).body;
      const smaller = await readKey({ armoredKey: armor });
      smaller.subkeys.splice(0);
      for (const [text, refusal] of [
        [one.armor, [ARMOR, 'The key is an older copy of the key that the registry has']],
        [smaller.armor(), [ARMOR, matchRefusalText(/^The key does not verify the signatures of its part/)]],
        [armor, ['/data/attributes/key-id', 'Key id has already been taken']],
        [one.privateKey, [ARMOR, matchRefusalText(/private key/)]],
      ] as const) {
        expect(refusalOf(await send(method, namespace, one, text))).toEqual(refusal);
      }
      expect((await server.get(byId(namespace, one))).body).toEqual(before);
    },
  );

  it('is refused by patch for another key, together with a move, and without any attribute', async () => {
    await settle('patching', signer(0));
    const patch = async (attributes: object): Promise<unknown> =>
      refusalOf(await server.patch(byId('patching', signer(0)), body(attributes)));
    expect(await patch({ 'ascii-armor': signer(1).armor })).toEqual([
      '/data/attributes/key-id',
      matchRefusalText(/has the same id, but is another key/),
    ]);
    expect(await patch({ namespace: 'acme', 'ascii-armor': signer(0).armor })).toEqual([
      ARMOR,
      matchRefusalText(/send two requests/),
    ]);
    expect(await patch({})).toEqual(['/data/attributes/namespace', "Namespace can't be blank"]);
  });
});

describe('keys of elliptic curves', () => {
  it.each([
    [{ type: 'ecc', curve: 'ed25519Legacy' }, 'ed25519'],
    [{ type: 'ecc', curve: 'nistP256' }, 'NIST P-256'],
  ] as const)('sign versions, and name the first terraform version that reads them: %j', async (keyType, algorithm) => {
    const namespace = `curve-${keyType.curve.toLowerCase()}`;
    const one = await makeSigner({ keyType });
    await settle(namespace, one);
    expect((await server.get(byId(namespace, one))).body.data.attributes).toMatchObject({
      algorithm,
      'minimum-terraform-version': '1.6',
    });
    await makeProvider(server, namespace, 'aws');
    const path = await publishVersion(server, namespace, 'aws', '1.0.0', one);
    expect((await server.get(path)).body.data.attributes).toMatchObject({ usable: true, missing: [] });
  });
});

describe('moving a GPG key to another organization', () => {
  const give = (api: ApiTestClient, from: string, namespace: unknown, one = signer(0)): Promise<ApiResponse> =>
    api.patch(byId(from, one), body({ namespace }));

  it('removes the key from the first organization, and both audit trails record it', async () => {
    await settle('giver', signer(0));
    await settle('taker');
    const response = expectStatus(await give(server, 'giver', 'taker'), 200);
    expect(response.body.data).toMatchObject({
      attributes: { namespace: 'taker', 'key-id': signer(0).keyId, 'ascii-armor': signer(0).armor },
      links: { self: byId('taker', signer(0)) },
    });
    expect((await server.get(byId('taker', signer(0)))).body).toEqual(response.body);
    expectStatus(await server.get(byId('giver', signer(0))), 404);
    for (const [organization, action] of [
      ['giver', 'destroy'],
      ['taker', 'create'],
    ] as const) {
      const reader = server.as(await makeOrganizationToken(server, organization));
      const { body: trail } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
      const [entry] = trail.data.filter(({ resource: { type } }: any) => type === 'gpg_key');
      expect(entry.resource).toMatchObject({ action, meta: { key_id: signer(0).keyId } });
    }
  });

  it('changes nothing if the key already belongs to that organization', async () => {
    await settle('keeper', signer(0));
    const before = (await server.get(byId('keeper', signer(0)))).body;
    expect(expectStatus(await give(server, 'keeper', 'keeper'), 200).body).toEqual(before);
  });

  it('is refused if the other organization already has the key', async () => {
    await settle('full-giver', signer(0));
    await settle('full-taker', signer(0));
    expect(refusalOf(await give(server, 'full-giver', 'full-taker'))).toEqual([
      '/data/attributes/key-id',
      'Key id has already been taken',
    ]);
    expectStatus(await server.get(byId('full-giver', signer(0))), 200);
  });

  it('needs the permission in both organizations', async () => {
    await settle('guarded', signer(0));
    const { ownersTeam } = await makeOrganization(server, 'both-a');
    const owner = await makeMember(server, 'both-a', 'oona', [ownersTeam]);
    expectStatus(await addKey(owner, 'both-a', signer(0)), 201);
    expectStatus(await give(owner, 'guarded', 'both-a'), 404);
    for (const namespace of ['guarded', 'nowhere']) {
      expect(expectStatus(await give(owner, 'both-a', namespace), 403).body.errors).toEqual([
        { status: '403', title: 'forbidden', detail: 'namespace not authorized' },
      ]);
    }
    expectStatus(await server.get(byId('both-a', signer(0))), 200);
    expectStatus(await server.get(byId('guarded', signer(0))), 200);
    expect(refusalOf(await give(server, 'guarded', 7))[0]).toBe('/data/attributes/namespace');
  });

  it('succeeds once if three organizations request the key at the same time', async () => {
    await settle('wanted', signer(0));
    const targets = ['taker-a', 'taker-b', 'taker-c'];
    for (const name of targets) await settle(name);
    const answers = await Promise.all(targets.map((name) => give(server, 'wanted', name)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
    expect(keysIn(expectStatus(await server.get(list('wanted', ...targets)), 200))).toHaveLength(1);
  });

  it('is refused if the other organization is deleted during the request', async () => {
    await settle('sender', signer(0));
    await settle('vanishing');
    runBetween(server.store, () => server.delete('/api/v2/organizations/vanishing'));
    expect((await give(server, 'sender', 'vanishing')).status).toBe(403);
    expectStatus(await server.get(byId('sender', signer(0))), 200);
  });
});

describe('the list of GPG keys', () => {
  beforeAll(async () => {
    await settle('one', signer(0), signer(1));
    await settle('two', signer(2));
  });

  it('contains only keys of the requested namespaces', async () => {
    const [a, b, c] = signers.map(({ keyId }) => keyId);
    expect(keysIn(expectStatus(await server.get(list('one')), 200))).toEqual([
      ['one', a],
      ['one', b],
    ]);
    expect(keysIn(expectStatus(await server.get(list('two', 'one', 'nowhere')), 200))).toEqual([
      ['one', a],
      ['one', b],
      ['two', c],
    ]);
    expect(keysIn(expectStatus(await server.get(list('nowhere')), 200))).toEqual([]);
  });

  it('has pages', async () => {
    const { body: page } = expectStatus(await server.get(`${list('one', 'two')}&page%5Bsize%5D=2`), 200);
    expect(page.data).toHaveLength(2);
    expect(page.meta.pagination).toMatchObject({ 'next-page': 2, 'total-pages': 2, 'total-count': 3 });
    expect(keysIn(expectStatus(await server.get(page.links.next as string), 200))).toEqual([['two', signer(2).keyId]]);
    const past = expectStatus(await server.get(`${list('one', 'two')}&page%5Bnumber%5D=9`), 200).body;
    expect(past).toMatchObject({ data: [], meta: { pagination: { 'total-count': 3 } } });
  });

  it.each(['', '?filter%5Bnamespace%5D='])('is refused without a namespace filter: %j', async (query) => {
    const { body: refused } = expectStatus(await server.get(`${GPG_KEYS}${query}`), 400);
    expect(refused.errors[0]).toMatchObject({
      detail: 'filter[namespace] is required',
      source: { parameter: 'filter[namespace]' },
    });
  });

  it('omits keys of organizations that the caller cannot read', async () => {
    await settle('private-one', signer(0));
    expect(keysIn(expectStatus(await stranger.get(list('private-one', 'one')), 200))).toEqual([]);
    expect((await stranger.get(list('private-one'))).body.meta.pagination['total-count']).toBe(0);
    expectStatus(await addKey(server, 'neighbour', signer(0)), 201);
    expect(keysIn(expectStatus(await stranger.get(list('private-one', 'neighbour')), 200))).toEqual([
      ['neighbour', signer(0).keyId],
    ]);
  });
});

describe('permissions on GPG keys', () => {
  it('lets members read keys, and managers of providers change them', async () => {
    await makeOrganization(server, 'ruled');
    expectStatus(await addKey(server, 'ruled', signer(0)), 201);
    const reader = await makeMember(server, 'ruled', 'rita', [await makeTeam(server, 'ruled', 'readers')]);
    const access = { 'organization-access': { 'manage-providers': true } };
    const manager = await makeMember(server, 'ruled', 'max', [await makeTeam(server, 'ruled', 'publishers', access)]);
    const path = byId('ruled', signer(0));
    expectStatus(await reader.get(path), 200);
    expect(keysIn(expectStatus(await reader.get(list('ruled')), 200))).toHaveLength(1);
    for (const api of [reader, member, stranger]) {
      const answers = [
        await addKey(api, 'ruled', signer(1)),
        // The response does not reveal that the key already exists, or what is wrong with it.
        await addKey(api, 'ruled', signer(0)),
        await addKey(api, 'ruled', { armor: 'no key' }),
        await api.patch(path, body({ namespace: 'acme' })),
        await api.delete(path),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    }
    expectStatus(await stranger.get(path), 404);
    expectStatus(await server.as(null).get(path), 401);
    expectStatus(await addKey(manager, 'ruled', signer(1)), 201);
    expectStatus(await manager.delete(path), 204);
  });
});

describe('removing a GPG key', () => {
  it('makes versions signed with it unusable until it is added again', async () => {
    await settle('signed', signer(0));
    await makeProvider(server, 'signed', 'aws');
    const path = await publishVersion(server, 'signed', 'aws', '1.0.0', signer(0));
    const usable = async (): Promise<boolean> => (await server.get(path)).body.data.attributes.usable as boolean;
    expect(await usable()).toBe(true);
    expectStatus(await server.delete(byId('signed', signer(0))), 204);
    expect(await usable()).toBe(false);
    expectStatus(await addKey(server, 'signed', signer(0)), 201);
    expect(await usable()).toBe(true);
    expectStatus(await server.delete('/api/v2/organizations/signed'), 204);
    expectStatus(await server.get(byId('signed', signer(0))), 404);
  });
});

describe('the view of GPG keys', () => {
  it('equals the view that is rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [registryDefinition]);
  });
});

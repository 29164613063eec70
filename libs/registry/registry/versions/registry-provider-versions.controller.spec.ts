import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { runBetween } from '../../../../test/support/interleaving.js';
import {
  addKey,
  DARWIN,
  GPG_KEYS,
  makeProvider,
  makeVersion,
  NO_KEY,
  pathOfProvider,
  pathOfProviders,
  pathOfVersion,
  pathOfVersions,
  platformAttributes,
  platformBody,
  publishVersion,
  settleNeighbours,
  uploadTo,
  versionBody,
  matchRefusalText,
} from '../../../../test/support/registry.js';
import { checksumsOf, makeSigner, TestRelease, type Signer } from '../../../../test/support/releases.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  refusalOf,
  resource,
} from '../../../../test/support/seeds.js';
import { fromTheFullHour } from '../../../../test/support/clocks.js';
import { getDetail } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { registryDefinition } from '../index.js';

const PATH = pathOfVersions('acme', 'aws');

let server: TestServer;
let signer: Signer;
let member: ApiTestClient;
let stranger: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock: fromTheFullHour() });
  signer = await makeSigner();
  ({ member, stranger } = await settleNeighbours(server));
  expectStatus(await addKey(server, 'acme', signer), 201);
  await makeProvider(server, 'acme', 'aws');
  await makeProvider(server, 'neighbour', 'aws');
});

afterAll(() => server.close());

const versionsIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: { attributes: { version: string } }) => attributes.version);
const create = (attributes: object, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(PATH, versionBody('1.0.0', attributes));

describe('a version', () => {
  it('is refused if its provider already has 10,000 versions', async () => {
    const provider = await makeProvider(server, 'neighbour', 'full');
    const path = pathOfVersions('neighbour', 'full');
    await server.database.rows(sql`
      insert into registry_provider_versions
             (id, provider, organization, version, precedence, key_id, protocols, created_at, updated_at)
      select 'provver-full' || n, p.id, p.organization, '0.0.' || n, '0.0.' || n, '', '[]', now(), now()
        from registry_providers p, generate_series(1, 9999) n where p.id = ${provider}`);
    expectStatus(await server.post(path, versionBody('1.0.0')), 201);
    expect(getDetail(expectStatus(await server.post(path, versionBody('1.0.1')), 422))).toContain(
      'at most 10000 versions',
    );
    await server.database.rows(sql`delete from registry_provider_versions where id like 'provver-full%'`);
    expectStatus(await server.post(path, versionBody('1.0.1')), 201);
  });

  it('is created, and shown as the same document by its path and in the list, with upload links', async () => {
    const request = versionBody('1.2.3-beta.1', { 'key-id': signer.keyId, protocols: ['6.0', '5.0', '5.0'] });
    const { body } = expectStatus(await server.post(PATH, request), 201);
    const self = `${PATH}/1.2.3-beta.1`;
    const link = expect.stringMatching(/^https?:\/\/[^/]+\/api\/registry\/private\/v2\/uploads\/[\w-]+\.[\w-]+$/);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^provver-\w{16}$/),
      type: 'registry-provider-versions',
      attributes: {
        version: '1.2.3-beta.1',
        'key-id': signer.keyId,
        protocols: ['5.0', '6.0'],
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        'updated-at': body.data.attributes['created-at'],
        'shasums-uploaded': false,
        'shasums-sig-uploaded': false,
        usable: false,
        missing: ['SHA256SUMS', 'SHA256SUMS.sig', 'a platform'],
        permissions: { 'can-delete': true, 'can-upload-asset': true },
      },
      relationships: {
        'registry-provider': {
          data: { type: 'registry-providers', id: expect.stringMatching(/^prov-/) },
          links: { related: pathOfProvider('acme', 'aws') },
        },
        platforms: { data: [], links: { related: `${self}/platforms` } },
      },
      links: { self, 'shasums-upload': link, 'shasums-sig-upload': link },
    });
    expect((await server.get(self)).body).toEqual(body);
    expect((await server.get(PATH)).body.data).toEqual([body.data]);
  });

  it.each([
    ['with an empty type', { type: '' }, '0.0.1'],
    ['without a type', {}, '0.0.2'],
    ['with an id', { type: 'registry-provider-versions', id: 'registry-provider-versions' }, '0.0.3'],
  ])('is created if the request comes %s', async (_, more, version) => {
    const attributes = { version, 'key-id': 'any', protocols: ['5.0'] };
    const { body } = expectStatus(await server.post(PATH, { data: { ...more, attributes } }), 201);
    expect(body.data.id).toMatch(/^provver-/);
  });

  it('defaults to protocol 5.0 if the protocols are null', async () => {
    const { body } = expectStatus(await create({ version: '0.1.0', protocols: null }), 201);
    expect(body.data.attributes.protocols).toEqual(['5.0']);
  });

  it('names the key that is missing', async () => {
    const { body } = expectStatus(await create({ version: '0.1.1', 'key-id': 'none of ours' }), 201);
    expect(body.data.attributes.missing).toContain('GPG key none of ours');
    // Some tools print the key id in lower case.
    const lower = expectStatus(await create({ version: '0.1.2', 'key-id': signer.keyId.toLowerCase() }), 201).body.data;
    expect(lower.attributes['key-id']).toBe(signer.keyId.toLowerCase());
    expect(lower.attributes.missing).toEqual(['SHA256SUMS', 'SHA256SUMS.sig', 'a platform']);
  });

  it.each([
    [{ version: undefined }, 'version', "Version can't be blank"],
    [{ version: '' }, 'version', /^Version is invalid/],
    [{ version: 1 }, 'version', 'Version must be a string'],
    [{ version: 'v1.0.0' }, 'version', /with no v before it$/],
    [{ version: '1.0' }, 'version', /^Version is invalid/],
    [{ version: '01.0.0' }, 'version', /^Version is invalid/],
    [{ version: ' 1.0.0' }, 'version', /^Version is invalid/],
    [{ version: '1.0.0\n' }, 'version', /^Version is invalid/],
    [{ version: '1.0.0/../2' }, 'version', /^Version is invalid/],
    [{ version: '1.0.0\u0000' }, 'version', /cannot be stored/],
    [{ version: `1.0.0-${'x'.repeat(300)}` }, 'version', /^Version is invalid/],
    [{ 'key-id': undefined }, 'key-id', "Key id can't be blank"],
    [{ 'key-id': null }, 'key-id', "Key id can't be blank"],
    [{ 'key-id': ' ' }, 'key-id', "Key id can't be blank"],
    [{ 'key-id': 'x'.repeat(256) }, 'key-id', /^Key id is too long/],
    [{ protocols: undefined }, 'protocols', "Protocols can't be blank"],
    [{ protocols: [] }, 'protocols', "Protocols can't be blank"],
    [{ protocols: '5.0' }, 'protocols', 'Protocols must be a list'],
    [{ protocols: ['5.0', '5.1'] }, 'protocols/1', 'Protocols must be one of 4.0, 5.0, 6.0'],
    [{ protocols: [5] }, 'protocols/0', 'Protocols must be one of 4.0, 5.0, 6.0'],
  ])('is refused if the attributes are %j', async (attributes, pointer, detail) => {
    expect(refusalOf(await create({ version: '9.0.0', ...attributes }))).toEqual([
      `/data/attributes/${pointer}`,
      matchRefusalText(detail),
    ]);
    expectStatus(await server.get(`${PATH}/9.0.0`), 404);
  });

  it('is refused for another resource type', async () => {
    const body = resource('registry-providers', { version: '9.0.0', 'key-id': 'K', protocols: null });
    expect(refusalOf(await server.post(PATH, body))).toEqual(['/data/type', 'Type must be registry-provider-versions']);
  });

  it('is unique in its provider, and build metadata makes no difference', async () => {
    expectStatus(await create({ version: '3.0.0+a' }), 201);
    for (const version of ['3.0.0+a', '3.0.0+b', '3.0.0']) {
      expect(refusalOf(await create({ version }))).toEqual([
        '/data/attributes/version',
        'Version has already been taken',
      ]);
    }
    expectStatus(await create({ version: '3.0.0-a' }), 201);
    for (const path of [`${PATH}/3.0.0+a`, `${PATH}/3.0.0%2Ba`]) {
      expect(expectStatus(await server.get(path), 200).body.data.attributes.version).toBe('3.0.0+a');
    }
    expectStatus(await server.get(`${PATH}/3.0.0`), 404);
    expectStatus(await server.delete(`${PATH}/3.0.0+a`), 204);
    expectStatus(await create({ version: '3.0.0' }), 201);
    expectStatus(await server.post(pathOfVersions('neighbour', 'aws'), versionBody('3.0.0')), 201);
  });

  it('is created only once, however many requests create it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ version: '4.0.0' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(19).fill(422)]);
  });

  it('is not found below another provider or organization', async () => {
    await makeVersion(server, 'acme', 'aws', '5.0.0');
    const elsewhere = [
      `${pathOfVersions('acme', 'none')}/5.0.0`,
      `${PATH}/5.0.1`,
      `${PATH}/v5.0.0`,
      `${PATH}/latest`,
      `${pathOfProviders('acme')}/other/acme/aws/versions/5.0.0`,
      `${pathOfProviders('acme')}/private/neighbour/aws/versions/5.0.0`,
      `${pathOfProviders('neighbour')}/private/neighbour/aws/versions/5.0.0`,
    ];
    for (const path of elsewhere) {
      expect([path, (await server.get(path)).status]).toEqual([path, 404]);
      expect([path, (await server.delete(path)).status]).toEqual([path, 404]);
    }
    expectStatus(await server.post(pathOfVersions('acme', 'none'), versionBody('1.0.0')), 404);
    expectStatus(await server.get(pathOfVersions('acme', 'none')), 404);
  });
});

describe('versions of public providers', () => {
  const path = `${pathOfProviders('acme')}/public/hashicorp/aws/versions`;
  const requestAll = async (api: ApiTestClient): Promise<ApiResponse[]> => [
    await api.post(path, versionBody('1.0.0')),
    await api.get(path),
    await api.get(`${path}/1.0.0`),
    await api.delete(`${path}/1.0.0`),
  ];

  it('return 403 to callers that can see the organization, and 404 to other callers', async () => {
    for (const api of [server, member]) {
      const answers = await requestAll(api);
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
      expect(answers.map(getDetail)).toEqual(Array(4).fill('Not available for public providers'));
    }
    expect((await requestAll(stranger)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });
});

describe('the list of versions', () => {
  it('has pages, newest versions first', async () => {
    await makeProvider(server, 'acme', 'listed');
    for (const version of ['1.0.0', '2.0.0', '1.1.0']) await makeVersion(server, 'acme', 'listed', version);
    const path = pathOfVersions('acme', 'listed');
    const { body } = expectStatus(await server.get(`${path}?page[size]=2`), 200);
    expect(versionsIn({ body } as ApiResponse)).toEqual(['1.1.0', '2.0.0']);
    expect(body.meta.pagination).toMatchObject({ 'page-size': 2, 'next-page': 2, 'total-pages': 2, 'total-count': 3 });
    expect(versionsIn(expectStatus(await server.get(body.links.next as string), 200))).toEqual(['1.0.0']);
    const past = expectStatus(await server.get(`${path}?page[number]=7`), 200).body;
    expect(past).toMatchObject({ data: [], meta: { pagination: { 'current-page': 7, 'total-count': 3 } } });
    expectStatus(await server.get(`${path}?page[size]=many`), 400);
    expect((await server.get(path)).body.meta.pagination['page-size']).toBe(20);
  });

  it('is empty for a new provider', async () => {
    await makeProvider(server, 'acme', 'bare');
    const { body } = expectStatus(await server.get(pathOfVersions('acme', 'bare')), 200);
    expect(body).toMatchObject({ data: [], meta: { pagination: { 'total-pages': 0, 'total-count': 0 } } });
  });
});

describe('the missing parts of a version', () => {
  type VersionAttributes = {
    usable: boolean;
    missing: string[];
    'shasums-uploaded': boolean;
    'shasums-sig-uploaded': boolean;
  };
  const readCompleteness = async (path: string): Promise<VersionAttributes> =>
    expectStatus(await server.get(path), 200).body.data.attributes;
  const linksOf = async (path: string): Promise<Record<string, string>> => (await server.get(path)).body.data.links;

  it('are listed at each step until it is usable', async () => {
    await makeProvider(server, 'acme', 'steps');
    const { links } = await makeVersion(server, 'acme', 'steps', '1.0.0', signer.keyId);
    const release = new TestRelease(server, 'acme', 'steps', '1.0.0');
    const [linux, darwin] = [release.archive('linux'), release.archive('darwin', 'arm64')];
    const sums = checksumsOf(linux, darwin);
    const { path } = release;

    expectStatus(await uploadTo(server, links['shasums-upload'], sums), 200);
    expect(await readCompleteness(path)).toMatchObject({
      usable: false,
      missing: ['SHA256SUMS.sig', 'a platform'],
      'shasums-uploaded': true,
      'shasums-sig-uploaded': false,
    });
    expect(Object.keys(await linksOf(path))).toEqual(['self', 'shasums-download', 'shasums-sig-upload']);
    expectStatus(await uploadTo(server, links['shasums-sig-upload'], await signer.sign(sums)), 200);
    expect(await readCompleteness(path)).toMatchObject({ missing: ['a platform'], 'shasums-sig-uploaded': true });
    expect(Object.keys(await linksOf(path))).toEqual(['self', 'shasums-download', 'shasums-sig-download']);

    const first = await release.addPlatform(linux);
    await release.addPlatform(darwin);
    expect(await readCompleteness(path)).toMatchObject({ usable: false, missing: [darwin.filename, linux.filename] });
    expectStatus(await uploadTo(server, first.links['provider-binary-upload'], linux.bytes), 200);
    expect(await readCompleteness(path)).toMatchObject({ usable: false, missing: [darwin.filename] });
    // If the unfinished platform is deleted, the version is complete.
    expectStatus(await server.delete(release.platformPath(darwin)), 204);
    expect(await readCompleteness(path)).toMatchObject({ usable: true, missing: [] });
    // A platform that is added later does not affect the others.
    const second = await release.addPlatform(darwin);
    expect(await readCompleteness(path)).toMatchObject({ usable: true, missing: [darwin.filename] });
    expectStatus(await uploadTo(server, second.links['provider-binary-upload'], darwin.bytes), 200);
    expect(await readCompleteness(path)).toMatchObject({ usable: true, missing: [] });
    const version = (await server.get(path)).body.data;
    expect(version.relationships.platforms.data.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(version.attributes['updated-at'] > version.attributes['created-at']).toBe(true);
    expect((await server.get(pathOfVersions('acme', 'steps'))).body.data).toEqual([version]);
  });

  it('include a removed GPG key until it is added again', async () => {
    await makeOrganization(server, 'keyless');
    const signerOfOrganization = await makeSigner();
    expectStatus(await addKey(server, 'keyless', signerOfOrganization), 201);
    await makeProvider(server, 'keyless', 'aws');
    const path = await publishVersion(server, 'keyless', 'aws', '1.0.0', signerOfOrganization);
    expect(await readCompleteness(path)).toMatchObject({ usable: true, missing: [] });
    expectStatus(await server.delete(`${GPG_KEYS}/keyless/${signerOfOrganization.keyId}`), 204);
    expect(await readCompleteness(path)).toMatchObject({
      usable: false,
      missing: [`GPG key ${signerOfOrganization.keyId}`],
    });
    // A key of another organization does not count.
    expectStatus(await addKey(server, 'neighbour', signerOfOrganization), 201);
    expect(await readCompleteness(path)).toMatchObject({ usable: false });
    expectStatus(await addKey(server, 'keyless', signerOfOrganization), 201);
    expect(await readCompleteness(path)).toMatchObject({ usable: true, missing: [] });
  });

  it('are a platform after its only platform is deleted', async () => {
    await makeProvider(server, 'acme', 'emptied');
    const path = await publishVersion(server, 'acme', 'emptied', '1.0.0', signer);
    expectStatus(await server.delete(`${path}/platforms/linux/amd64`), 204);
    expect(await readCompleteness(path)).toMatchObject({ usable: false, missing: ['a platform'] });
  });
});

describe('deleting a version', () => {
  it('deletes its platforms, and the version can be created again', async () => {
    await makeProvider(server, 'acme', 'going');
    const path = await publishVersion(server, 'acme', 'going', '1.0.0', signer, [DARWIN]);
    const before = (await server.get(path)).body.data;
    expectStatus(await server.delete(path), 204);
    for (const deletedPath of [path, `${path}/platforms`, `${path}/platforms/darwin/arm64`]) {
      expectStatus(await server.get(deletedPath), 404);
    }
    expectStatus(await server.delete(path), 404);
    expect(versionsIn(expectStatus(await server.get(pathOfVersions('acme', 'going')), 200))).toEqual([]);
    const after = await makeVersion(server, 'acme', 'going', '1.0.0', signer.keyId);
    expect(after.id).not.toBe(before.id);
    expect(after).toMatchObject({
      attributes: { 'shasums-uploaded': false, usable: false },
      relationships: { platforms: { data: [] } },
    });
  });

  it('is recorded in the audit trail with each of its platforms', async () => {
    await makeOrganization(server, 'told');
    expectStatus(await addKey(server, 'told', signer), 201);
    await makeProvider(server, 'told', 'aws');
    const path = await publishVersion(server, 'told', 'aws', '1.0.0', signer);
    const { id, relationships } = (await server.get(path)).body.data;
    const platform = relationships.platforms.data[0].id as string;
    expectStatus(await server.delete(path), 204);
    const reader = server.as(await makeOrganizationToken(server, 'told'));
    const { body } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    type Entry = { resource: { type: string; id: string; action: string; meta: object } };
    const entries = (body.data as Entry[])
      .filter(({ resource: { type } }) => /^registry_provider_(?:version|platform)$/.test(type))
      .map(({ resource: { type, id: of, action, meta } }) => [type, action, of, meta])
      .toReversed();
    const of = { provider: 'aws', version: '1.0.0' };
    const facts = { ...of, ...platformAttributes('aws', '1.0.0') };
    const file = { size: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
    const sums = 'terraform-provider-aws_1.0.0_SHA256SUMS';
    const [VERSION, PLATFORM] = ['registry_provider_version', 'registry_provider_platform'];
    expect(entries).toEqual([
      [VERSION, 'create', id, { ...of, key_id: signer.keyId, protocols: ['5.0'] }],
      [VERSION, 'upload', id, { ...of, filename: sums, ...file }],
      [VERSION, 'upload', id, { ...of, filename: `${sums}.sig`, ...file }],
      [PLATFORM, 'create', platform, facts],
      [PLATFORM, 'upload', platform, { ...facts, size: expect.any(Number) }],
      [VERSION, 'publish', id, { ...of, platforms: ['linux_amd64'] }],
      [PLATFORM, 'destroy', platform, facts],
      [VERSION, 'destroy', id, of],
    ]);
  });

  it('prevents a new platform from a simultaneous request', async () => {
    await makeVersion(server, 'acme', 'aws', '6.0.0');
    const path = pathOfVersion('acme', 'aws', '6.0.0');
    runBetween(server.store, () => server.delete(path));
    const response = await server.post(`${path}/platforms`, platformBody(platformAttributes('aws', '6.0.0')));
    expect(response.status).toBe(404);
  });

  it('a new version is refused if its organization is deleted during the request', async () => {
    await makeOrganization(server, 'ending');
    await makeProvider(server, 'ending', 'aws');
    runBetween(server.store, () => server.delete('/api/v2/organizations/ending'));
    expect((await server.post(pathOfVersions('ending', 'aws'), versionBody('1.0.0'))).status).toBe(404);
  });
});

describe('permissions on versions', () => {
  it('let members read versions without upload links, and managers of providers change them', async () => {
    await makeVersion(server, 'acme', 'aws', '7.0.0');
    const path = pathOfVersion('acme', 'aws', '7.0.0');
    const version = expectStatus(await member.get(path), 200).body.data;
    expect(version.attributes.permissions).toEqual({ 'can-delete': false, 'can-upload-asset': false });
    expect(version.links).toEqual({ self: path });
    const listed = expectStatus(await member.get(PATH), 200);
    const included = await member.get(`${pathOfProvider('acme', 'aws')}?include=registry-provider-versions`);
    for (const { text } of [listed, expectStatus(included, 200)]) expect(text).not.toContain('/uploads/');
    expectStatus(await create({ version: '7.1.0' }, member), 404);
    // The response does not reveal what is wrong with the version, or that it already exists.
    expectStatus(await create({ version: '7.0.0' }, member), 404);
    expectStatus(await create({ version: 'v7' }, member), 404);
    expectStatus(await member.delete(path), 404);

    const access = { 'organization-access': { 'manage-providers': true } };
    const manager = await makeMember(server, 'acme', 'max', [await makeTeam(server, 'acme', 'publishers', access)]);
    expectStatus(await create({ version: '7.1.0' }, manager), 201);
    expect(Object.keys(expectStatus(await manager.get(path), 200).body.data.links)).toContain('shasums-upload');
    expectStatus(await manager.delete(path), 204);
  });

  it('return 404 to callers of other organizations', async () => {
    await makeVersion(server, 'acme', 'aws', '8.0.0');
    const path = pathOfVersion('acme', 'aws', '8.0.0');
    const answers = [
      await stranger.get(PATH),
      await stranger.get(path),
      await create({ version: '8.1.0' }, stranger),
      await stranger.delete(path),
      await stranger.get(`${pathOfProviders('neighbour')}/private/acme/aws/versions/8.0.0`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect((await server.as(null).get(path)).status).toBe(401);
    const audit = await server.post('/api/v2/organizations/acme/authentication-token?token=audit-trails');
    const auditor = server.as(expectStatus(audit, 201).body.data.attributes.token as string);
    expectStatus(await auditor.get(path), 404);
  });
});

describe('a version with a key that the organization does not have', () => {
  it('accepts its files while it has no platform', async () => {
    await makeProvider(server, 'acme', 'unkeyed');
    const { links } = await makeVersion(server, 'acme', 'unkeyed', '1.0.0');
    const path = pathOfVersion('acme', 'unkeyed', '1.0.0');
    const { shasum, filename } = platformAttributes('unkeyed', '1.0.0');
    const sums = Buffer.from(`${shasum}  ${filename}\n`);
    expectStatus(await uploadTo(server, links['shasums-upload'], sums), 200);
    expectStatus(await uploadTo(server, links['shasums-sig-upload'], await signer.sign(sums)), 200);
    expect((await server.get(path)).body.data.attributes).toMatchObject({
      'shasums-uploaded': true,
      'shasums-sig-uploaded': false,
      usable: false,
      missing: ['SHA256SUMS.sig', `GPG key ${NO_KEY}`, 'a platform'],
    });
  });
});

describe('views and snapshots of the registry', () => {
  it('equal those that are rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [registryDefinition]);
  });
});

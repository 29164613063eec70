import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  addKey,
  DARWIN,
  LINUX,
  makeProvider,
  makeVersion,
  pathOfProviders,
  pathOfVersion,
  platformAttributes,
  platformBody,
  publishVersion,
  settleNeighbours,
  uploadTo,
  zipOf,
  matchRefusalText,
} from '../../../../test/support/registry.js';
import { makeSigner, type Signer } from '../../../../test/support/releases.js';
import { expectStatus, makeMember, makeTeam, refusalOf, resource } from '../../../../test/support/seeds.js';
import { fromTheFullHour } from '../../../../test/support/clocks.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { registryDefinition } from '../index.js';

const VERSION = pathOfVersion('acme', 'aws', '1.0.0');
const PATH = `${VERSION}/platforms`;

let server: TestServer;
let signer: Signer;
let member: ApiTestClient;
let stranger: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ clock: fromTheFullHour() });
  signer = await makeSigner();
  ({ member, stranger } = await settleNeighbours(server));
  expectStatus(await addKey(server, 'acme', signer), 201);
  for (const organization of ['acme', 'neighbour']) {
    await makeProvider(server, organization, 'aws');
    await makeVersion(server, organization, 'aws', '1.0.0');
  }
});

afterAll(() => server.close());

const facts = (os: string, arch = 'amd64') => platformAttributes('aws', '1.0.0', os, arch);
const create = (attributes: object, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(PATH, platformBody(attributes));
const namesIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes: { os, arch } }: { attributes: { os: string; arch: string } }) => `${os}_${arch}`);

describe('a platform', () => {
  it('is created, and shown as the same document by its path and in the list, with an upload link', async () => {
    const attributes = facts('linux');
    const { body } = expectStatus(await create({ ...attributes, shasum: attributes.shasum.toUpperCase() }), 201);
    const self = `${PATH}/linux/amd64`;
    expect(body.data).toEqual({
      id: expect.stringMatching(/^provpltfrm-\w{16}$/),
      type: 'registry-provider-platforms',
      attributes: {
        ...attributes,
        'provider-binary-uploaded': false,
        permissions: { 'can-delete': true, 'can-upload-asset': true },
      },
      relationships: {
        'registry-provider-version': {
          data: { type: 'registry-provider-versions', id: expect.stringMatching(/^provver-/) },
          links: { related: VERSION },
        },
      },
      links: {
        self,
        'provider-binary-upload': expect.stringMatching(/\/api\/registry\/private\/v2\/uploads\/[\w-]+\.[\w-]+$/),
      },
    });
    expect((await server.get(self)).body).toEqual(body);
    expect((await server.get(PATH)).body.data).toEqual([body.data]);
    const version = (await server.get(VERSION)).body.data;
    expect(version.relationships.platforms.data).toEqual([{ type: 'registry-provider-platforms', id: body.data.id }]);
    expect(version.id).toBe(body.data.relationships['registry-provider-version'].data.id);
  });

  it('has a download link after its zip is uploaded', async () => {
    const { body } = expectStatus(await create(facts('freebsd')), 201);
    expectStatus(
      await uploadTo(server, body.data.links['provider-binary-upload'], zipOf('aws', '1.0.0', 'freebsd')),
      200,
    );
    const platform = expectStatus(await server.get(`${PATH}/freebsd/amd64`), 200).body.data;
    expect(platform).toMatchObject({ id: body.data.id, attributes: { 'provider-binary-uploaded': true } });
    const { self, ...links } = platform.links;
    expect(self).toBe(`${PATH}/freebsd/amd64`);
    const { filename } = facts('freebsd');
    expect(links).toEqual({ 'provider-binary-download': expect.stringMatching(new RegExp(`/${filename}$`)) });
  });

  it('accepts a declared checksum that is no SHA-256, and then refuses every zip', async () => {
    const declared = { os: 'my-os', arch: 'my_arch', filename: 'declared', shasum: 'Shasum' };
    const version = await makeVersion(server, 'acme', 'aws', '0.0.1');
    const { body } = expectStatus(await server.post(`${version.links['self']}/platforms`, platformBody(declared)), 201);
    expect(body.data.attributes).toMatchObject(declared);
    const answer = expectStatus(
      await uploadTo(server, body.data.links['provider-binary-upload'], Buffer.from('zip')),
      422,
    );
    expect(answer.text).toContain('its platform was declared with Shasum');
  });

  it('reports every invalid attribute in one response', async () => {
    const { body } = expectStatus(
      await create({ os: '', arch: 'amd 64', filename: '../registry/x', shasum: ' ' }),
      422,
    );
    expect(body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer)).toEqual(
      ['os', 'arch', 'filename', 'shasum'].map((name) => `/data/attributes/${name}`),
    );
  });

  it.each([
    ['with the type registry-provider-platforms', { type: 'registry-provider-platforms' }, 'one'],
    ['with the type registry-provider-version-platforms', { type: 'registry-provider-version-platforms' }, 'two'],
    ['with an empty type', { type: '' }, 'three'],
    ['without a type', {}, 'four'],
    ['with an id', { id: 'registry-provider-platforms' }, 'five'],
  ])('is created if the request comes %s', async (_, more, arch) => {
    const { body } = expectStatus(
      await server.post(PATH, { data: { ...more, attributes: facts('plan9', arch) } }),
      201,
    );
    expect(body.data.type).toBe('registry-provider-platforms');
  });

  it('is refused for another resource type', async () => {
    const body = resource('registry-provider-versions', facts('solaris'));
    expect(refusalOf(await server.post(PATH, body))[0]).toBe('/data/type');
  });

  it.each([
    [{ os: undefined }, 'os', "Os can't be blank"],
    [{ os: '' }, 'os', "Os can't be blank"],
    [{ os: 7 }, 'os', 'Os must be a string'],
    [{ os: 'Linux' }, 'os', /^Os may only contain/],
    [{ os: '../registry/linux' }, 'os', /^Os may only contain/],
    [{ os: 'x'.repeat(65) }, 'os', /^Os is too long/],
    [{ arch: undefined }, 'arch', "Arch can't be blank"],
    [{ arch: 'amd 64' }, 'arch', /^Arch may only contain/],
    [{ filename: undefined }, 'filename', "Filename can't be blank"],
    [{ filename: '' }, 'filename', "Filename can't be blank"],
    [{ filename: '../../etc/passwd' }, 'filename', /^Filename may only contain/],
    [{ filename: '/aws.zip' }, 'filename', /^Filename may only contain/],
    [{ filename: '..' }, 'filename', /^Filename must not begin/],
    [{ filename: 'aws\\..\\x.zip' }, 'filename', /^Filename may only contain/],
    [{ filename: 'aws.zip\u0000.exe' }, 'filename', /cannot be stored/],
    [{ filename: 'aws\r\nX: y.zip' }, 'filename', /^Filename may only contain/],
    [{ filename: 'ａws.zip' }, 'filename', /^Filename may only contain/],
    [{ filename: 'aws\u202egpj.zip' }, 'filename', /^Filename may only contain/],
    [{ filename: '%2e%2e%2fx.zip' }, 'filename', /^Filename may only contain/],
    [{ shasum: undefined }, 'shasum', "Shasum can't be blank"],
    [{ shasum: '' }, 'shasum', "Shasum can't be blank"],
    [{ shasum: null }, 'shasum', "Shasum can't be blank"],
    [{ shasum: `${'a'.repeat(64)}\n` }, 'shasum', /^Shasum may only contain/],
    [{ shasum: 'z'.repeat(256) }, 'shasum', /^Shasum is too long/],
  ])('is refused if the attributes are %j', async (attributes, name, detail) => {
    const before = namesIn(await server.get(`${PATH}?page[size]=100`));
    expect(refusalOf(await create({ ...facts('openbsd'), ...attributes }))).toEqual([
      `/data/attributes/${name}`,
      matchRefusalText(detail),
    ]);
    expect(namesIn(await server.get(`${PATH}?page[size]=100`))).toEqual(before);
  });

  it('reports every missing attribute in one response', async () => {
    const { body } = expectStatus(await create({}), 422);
    expect(body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer)).toEqual(
      ['os', 'arch', 'filename', 'shasum'].map((name) => `/data/attributes/${name}`),
    );
  });

  it('is unique by os and arch, and by file name', async () => {
    expectStatus(await create(facts('windows')), 201);
    expect(refusalOf(await create({ ...facts('windows'), filename: 'other.zip' }))).toEqual([
      '/data/attributes/os',
      'Platform windows_amd64 exists already',
    ]);
    expect(refusalOf(await create({ ...facts('windows'), arch: 'arm64' }))).toEqual([
      '/data/attributes/filename',
      'Filename has already been taken',
    ]);
    expectStatus(await server.delete(`${PATH}/windows/amd64`), 204);
    expectStatus(await server.get(`${PATH}/windows/amd64`), 404);
    expectStatus(await server.delete(`${PATH}/windows/amd64`), 404);
    expectStatus(await create(facts('windows')), 201);
  });

  it('is created only once, however many requests create it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(facts('netbsd'))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(19).fill(422)]);
  });

  it('is created by each of fifty simultaneous requests for different platforms', async () => {
    await makeProvider(server, 'acme', 'many');
    await makeVersion(server, 'acme', 'many', '1.0.0');
    const path = `${pathOfVersion('acme', 'many', '1.0.0')}/platforms`;
    const architectures = Array.from({ length: 50 }, (_, n) => `a${String(n).padStart(2, '0')}`);
    const answers = await Promise.all(
      architectures.map((arch) => server.post(path, platformBody(platformAttributes('many', '1.0.0', 'linux', arch)))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const listed = expectStatus(await server.get(`${path}?page[size]=100`), 200);
    expect(namesIn(listed)).toEqual(architectures.map((arch) => `linux_${arch}`));
  });

  it('is refused if an uploaded SHA256SUMS does not list it', async () => {
    await makeProvider(server, 'acme', 'summed');
    const { links } = await makeVersion(server, 'acme', 'summed', '1.0.0');
    const path = `${pathOfVersion('acme', 'summed', '1.0.0')}/platforms`;
    const linux = platformAttributes('summed', '1.0.0');
    const sums = Buffer.from(`${linux.shasum}  ${linux.filename}\n`);
    expectStatus(await uploadTo(server, links['shasums-upload'], sums), 200);
    const darwin = platformAttributes('summed', '1.0.0', ...DARWIN);
    expect(refusalOf(await server.post(path, platformBody(darwin)))).toEqual([
      '/data/attributes/filename',
      `SHA256SUMS does not list ${darwin.filename}`,
    ]);
    expect(refusalOf(await server.post(path, platformBody({ ...linux, shasum: darwin.shasum })))).toEqual([
      '/data/attributes/shasum',
      `SHA256SUMS lists ${linux.filename} with checksum ${linux.shasum}, its platform has ${darwin.shasum}`,
    ]);
    expectStatus(await server.post(path, platformBody(linux)), 201);
  });

  it.each(['constructor', 'tostring', 'a+b_c-d.zip'])('may have a file called %s', async (filename) => {
    const name = `named-${filename.replaceAll(/[^a-z]/g, '')}`;
    await makeProvider(server, 'acme', name);
    const { links } = await makeVersion(server, 'acme', name, '1.0.0');
    const path = `${pathOfVersion('acme', name, '1.0.0')}/platforms`;
    const linux = platformAttributes(name, '1.0.0');
    const unlisted = await server.post(path, platformBody(linux));
    expectStatus(unlisted, 201);
    const sums = (...names: string[]) => Buffer.from(names.map((one) => `${linux.shasum}  ${one}\n`).join(''));
    expectStatus(await uploadTo(server, links['shasums-upload'], sums(filename)), 422);
    expectStatus(await uploadTo(server, links['shasums-upload'], sums(filename, linux.filename)), 200);
    const darwin = platformAttributes(name, '1.0.0', ...DARWIN);
    expect(refusalOf(await server.post(path, platformBody(darwin)))[0]).toBe('/data/attributes/filename');
    expectStatus(await server.post(path, platformBody({ ...darwin, shasum: linux.shasum, filename })), 201);
    const { body } = expectStatus(await server.get(`${path}/darwin/arm64`), 200);
    expect(body.data.attributes.filename).toBe(filename);
    const more = { ...darwin, os: 'plan9', filename: '__proto__', shasum: linux.shasum };
    expect(refusalOf(await server.post(path, platformBody(more)))[0]).toBe('/data/attributes/filename');
  });

  it('cannot be listed in SHA256SUMS as __proto__', async () => {
    await makeProvider(server, 'acme', 'prototype');
    const { links } = await makeVersion(server, 'acme', 'prototype', '1.0.0');
    const { shasum, filename } = platformAttributes('prototype', '1.0.0');
    const sums = Buffer.from(`${shasum}  ${filename}\n${shasum}  __proto__\n`);
    const { text } = expectStatus(await uploadTo(server, links['shasums-upload'], sums), 422);
    expect(text).toContain('SHA256SUMS lists a file called __proto__');
  });

  it('is not found below another version, provider or organization', async () => {
    expectStatus(await create(facts('aix')), 201);
    const elsewhere = [
      `${pathOfVersion('acme', 'aws', '1.0.1')}/platforms`,
      `${pathOfVersion('acme', 'none', '1.0.0')}/platforms`,
      `${pathOfProviders('acme')}/other/acme/aws/versions/1.0.0/platforms`,
      `${pathOfProviders('acme')}/private/neighbour/aws/versions/1.0.0/platforms`,
    ];
    for (const path of elsewhere) {
      const answers = [
        await server.get(path),
        await server.post(path, platformBody(facts('aix', 'ppc64'))),
        await server.get(`${path}/aix/amd64`),
        await server.delete(`${path}/aix/amd64`),
      ];
      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, 404, 404, 404, 404]);
    }
    expectStatus(await server.get(`${PATH}/aix/ppc64`), 404);
    expectStatus(await server.get(`${PATH}/AIX/amd64`), 404);
    expectStatus(await server.get(`${pathOfVersion('neighbour', 'aws', '1.0.0')}/platforms/aix/amd64`), 404);
  });
});

describe('platforms of public providers', () => {
  const path = `${pathOfProviders('acme')}/public/hashicorp/aws/versions/1.0.0/platforms`;
  const requestAll = async (api: ApiTestClient): Promise<ApiResponse[]> => [
    await api.post(path, platformBody(facts('linux'))),
    await api.get(path),
    await api.get(`${path}/linux/amd64`),
    await api.delete(`${path}/linux/amd64`),
  ];

  it('return 403 to callers that can see the organization, and 404 to other callers', async () => {
    for (const api of [server, member]) {
      const answers = await requestAll(api);
      expect(answers.map(({ status, body }) => [status, body.errors[0].detail])).toEqual(
        Array(4).fill([403, 'Not available for public providers']),
      );
    }
    expect((await requestAll(stranger)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });
});

describe('the list of platforms', () => {
  it('has pages and is sorted by os and arch', async () => {
    await makeProvider(server, 'acme', 'listed');
    await makeVersion(server, 'acme', 'listed', '1.0.0');
    const path = `${pathOfVersion('acme', 'listed', '1.0.0')}/platforms`;
    const empty = expectStatus(await server.get(path), 200).body;
    expect(empty).toMatchObject({ data: [], meta: { pagination: { 'total-pages': 0, 'total-count': 0 } } });
    for (const system of [LINUX, ['linux', '386'], DARWIN] as const) {
      expectStatus(await server.post(path, platformBody(platformAttributes('listed', '1.0.0', ...system))), 201);
    }
    const { body } = expectStatus(await server.get(`${path}?page[size]=2`), 200);
    expect(namesIn({ body } as ApiResponse)).toEqual(['darwin_arm64', 'linux_386']);
    expect(body.meta.pagination).toMatchObject({ 'next-page': 2, 'total-pages': 2, 'total-count': 3 });
    expect(namesIn(expectStatus(await server.get(body.links.next as string), 200))).toEqual(['linux_amd64']);
    const past = expectStatus(await server.get(`${path}?page[number]=5`), 200).body;
    expect(past).toMatchObject({ data: [], meta: { pagination: { 'total-count': 3 } } });
  });
});

describe('views and snapshots of the registry', () => {
  it('equal those that are rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [registryDefinition]);
  });
});

describe('permissions on platforms', () => {
  it('let members read platforms without upload links, and managers of providers change them', async () => {
    expectStatus(await create(facts('illumos')), 201);
    const path = `${PATH}/illumos/amd64`;
    const platform = expectStatus(await member.get(path), 200).body.data;
    expect(platform.attributes.permissions).toEqual({ 'can-delete': false, 'can-upload-asset': false });
    expect(platform.links).toEqual({ self: path });
    expect(expectStatus(await member.get(`${PATH}?page[size]=100`), 200).text).not.toContain('/uploads/');
    expectStatus(await create(facts('illumos', 'arm64'), member), 404);
    expectStatus(await create(facts('illumos'), member), 404);
    expectStatus(await member.delete(path), 404);
    const access = { 'organization-access': { 'manage-providers': true } };
    const manager = await makeMember(server, 'acme', 'max', [await makeTeam(server, 'acme', 'publishers', access)]);
    expect(Object.keys(expectStatus(await manager.get(path), 200).body.data.links)).toContain('provider-binary-upload');
    expectStatus(await create(facts('illumos', 'arm64'), manager), 201);
    expectStatus(await manager.delete(path), 204);
  });

  it('let members download uploaded zips', async () => {
    await makeProvider(server, 'acme', 'shared');
    const path = await publishVersion(server, 'acme', 'shared', '1.0.0', signer);
    const platform = expectStatus(await member.get(`${path}/platforms/linux/amd64`), 200).body.data;
    expect(Object.keys(platform.links)).toEqual(['self', 'provider-binary-download']);
  });

  it('return 404 to callers of other organizations', async () => {
    const path = `${PATH}/linux/amd64`;
    const answers = [
      await stranger.get(PATH),
      await stranger.get(path),
      await create(facts('hurd'), stranger),
      await create({ os: 7 }, stranger),
      await stranger.delete(path),
      await stranger.get(`${pathOfProviders('neighbour')}/private/acme/aws/versions/1.0.0/platforms/linux/amd64`),
    ];
    // The server checks the body before the permission. That reveals nothing about existing platforms.
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 422, 404, 404]);
    expectStatus(await server.get(path), 200);
  });
});

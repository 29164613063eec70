import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rcompare } from 'semver';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeOrganizationToken,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../workspaces.module.js';
import { OPENTOFU_RELEASES, PREVIEWS, TERRAFORM_RELEASES } from './built-in-releases.js';

const PATH = '/api/v2/admin/terraform-versions';
const ADDED = ['9.1.0', '9.2.0-rc1', '1.5.7'];

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { CADASTRE_TOOL_RELEASES: ADDED.join(',') } });
  await makeOrganization(server, 'acme');
});
afterAll(() => server.close());

const list = async (query: string): Promise<any[]> => expectStatus(await server.get(`${PATH}?${query}`), 200).body.data;
const listVersions = async (query: string): Promise<string[]> =>
  (await list(query)).map(({ attributes }) => attributes.version as string);

/** Follows the links of the pages. */
const listAll = async (): Promise<any[]> => {
  const all: any[] = [];
  for (let number: number | null = 1; number !== null;) {
    const { body } = expectStatus(await server.get(`${PATH}?page[size]=100&page[number]=${number}`), 200);
    all.push(...body.data);
    number = body.meta.pagination['next-page'] as number | null;
  }
  return all;
};

describe('the releases for site administrators', () => {
  it('are all releases that workspaces may choose, the newest first', async () => {
    const versions = (await listAll()).map(({ attributes }) => attributes.version as string);
    expect(versions.slice(0, 2)).toEqual(['9.2.0-rc1', '9.1.0']);
    const expected = new Set([...TERRAFORM_RELEASES, ...OPENTOFU_RELEASES, ...PREVIEWS, ...ADDED]);
    expect(versions).toEqual([...expected].toSorted(rcompare));
  });

  it('show what is known about a release, and the workspaces that name it', async () => {
    for (const [name, version] of [
      ['one', '1.5.7'],
      ['two', '1.5.7'],
      ['constraint', '~> 1.5.0'],
    ] as const) {
      const id = await makeWorkspace(server, 'acme', name);
      expectStatus(
        await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', { 'iac-version': version })),
        200,
      );
    }
    const [release] = await list('filter[version]=1.5.7');
    expect(release).toEqual({
      id: expect.stringMatching(/^tool-[0-9a-f]{16}$/),
      type: 'terraform-versions',
      attributes: {
        version: '1.5.7',
        url: 'https://releases.hashicorp.com/terraform/1.5.7/terraform_1.5.7_linux_amd64.zip',
        sha: null,
        archs: ['amd64', 'arm64'].map((arch) => ({
          url: `https://releases.hashicorp.com/terraform/1.5.7/terraform_1.5.7_linux_${arch}.zip`,
          sha: null,
          os: 'linux',
          arch,
        })),
        official: true,
        enabled: true,
        beta: false,
        deprecated: false,
        'deprecated-reason': null,
        usage: 2,
        'created-at': null,
      },
      links: { self: `${PATH}/${release.id}` },
    });
    expect(expectStatus(await server.get(release.links.self), 200).body.data).toEqual(release);
    expectStatus(await server.get(`${PATH}/tool-0000000000000000`), 404);
    const [added] = await list('filter[version]=9.2.0-rc1');
    expect(added.attributes).toMatchObject({ official: false, beta: true, usage: 0, url: null, archs: [] });
  });

  it('have the archives of their publisher', async () => {
    const listUrls = async (version: string): Promise<string[]> =>
      (await list(`filter[version]=${version}`))[0].attributes.archs.map(({ url }: any) => url as string);
    expect(await listUrls('0.12.31')).toEqual([
      'https://releases.hashicorp.com/terraform/0.12.31/terraform_0.12.31_linux_amd64.zip',
    ]);
    expect(await listUrls('1.10.9')).toEqual(
      ['amd64', 'arm64'].map(
        (arch) => `https://github.com/opentofu/opentofu/releases/download/v1.10.9/tofu_1.10.9_linux_${arch}.zip`,
      ),
    );
  });

  it('are found by their exact version, or by a text in it', async () => {
    expect(await listVersions('filter[version]=1.5')).toEqual([]);
    expect(await listVersions('search[version]=9.')).toEqual(expect.arrayContaining(['9.1.0', '1.9.8']));
    expect(await listVersions('search[version]=2.0-rc')).toEqual(['9.2.0-rc1']);
    expect(await listVersions('filter[version]=1.5.7&search[version]=9.1')).toEqual(['1.5.7']);
    expect(await listVersions('filter[version]=&search[version]=2.0-rc')).toEqual(['9.2.0-rc1']);
    expectStatus(await server.get(`${PATH}?filter[beta]=true`), 400);
  });

  it('are hidden from others', async () => {
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const [release] = await list('filter[version]=1.5.7');
    expectStatus(await token.get(PATH), 404);
    expectStatus(await token.get(`${PATH}/${release.id}`), 404);
  });
});

const SHA = 'a'.repeat(64);
const URL_OF_ZIP = 'https://tools.example.com/terraform_7.0.0_linux_amd64.zip';

const add = (attributes: object) => server.post(PATH, resource('terraform-versions', attributes));
const addVersion = async (attributes: object): Promise<any> => expectStatus(await add(attributes), 201).body.data;
const change = (id: string, attributes: object) =>
  server.patch(`${PATH}/${id}`, resource('terraform-versions', attributes));
const idOf = async (version: string): Promise<string> => (await list(`filter[version]=${version}`))[0].id as string;

let count = 0;
const createWorkspaceWith = (version: string) => {
  const body = resource('workspaces', { name: `versioned-${(count += 1)}`, 'terraform-version': version });
  return server.post('/api/v2/organizations/acme/workspaces', body);
};

describe('a release of the site', () => {
  it('is added with its archives, and chosen by workspaces', async () => {
    const added = await addVersion({ version: '7.0.0', url: URL_OF_ZIP, sha: SHA.toUpperCase() });
    expect(added.attributes).toEqual({
      version: '7.0.0',
      url: URL_OF_ZIP,
      sha: SHA,
      archs: [{ url: URL_OF_ZIP, sha: SHA, os: 'linux', arch: 'amd64' }],
      official: false,
      enabled: true,
      beta: false,
      deprecated: false,
      'deprecated-reason': null,
      usage: 0,
      'created-at': expect.stringMatching(/^20.+Z$/),
    });
    expectStatus(await createWorkspaceWith('7.0.0'), 201);
    expect(await list('filter[version]=7.0.0')).toEqual([{ ...added, attributes: { ...added.attributes, usage: 1 } }]);
    const { detail } = expectStatus(await server.delete(`${PATH}/${added.id}`), 422).body.errors[0];
    expect(detail).toBe('7.0.0 cannot be deleted: 1 workspace has it');
    expect(expectStatus(await change(added.id, { version: '7.0.1' }), 422).body.errors[0].detail).toBe(
      'Version cannot change: 1 workspace has it',
    );
  });

  it('keeps the order of its archives, is renamed and deleted', async () => {
    const arm = { url: 'http://mirror.example.com/arm.zip', sha: SHA, os: 'linux', arch: 'arm64' };
    const mac = { ...arm, os: 'darwin' };
    const { id, attributes } = await addVersion({ version: '7.1.0-acme.1', archs: [mac, arm], beta: true });
    expect(attributes).toMatchObject({ url: null, sha: null, archs: [mac, arm], beta: true });
    expect(expectStatus(await change(id, { version: '7.1.0-acme.2', archs: [] }), 200).body.data).toMatchObject({
      id,
      attributes: { version: '7.1.0-acme.2', archs: [], beta: true },
    });
    expectStatus(await createWorkspaceWith('7.1.0-acme.1'), 422);
    expectStatus(await server.delete(`${PATH}/${id}`), 204);
    expectStatus(await server.get(`${PATH}/${id}`), 404);
    expectStatus(await server.delete(`${PATH}/${id}`), 404);
    expectStatus(await change(id, { beta: false }), 404);
  });

  it.each([
    [{ version: '1.5.7' }, 'version', 'Version 1.5.7 exists already'],
    [{ version: '9.1.0' }, 'version', 'Version 9.1.0 exists already'],
    [{ version: '~> 1.5' }, 'version', 'Version must be a release such as 1.5.7'],
    [{ version: '8.0.0', url: URL_OF_ZIP }, 'sha', 'Sha is missing beside url'],
    [{ version: '8.0.0', sha: SHA }, 'url', 'Url is missing beside sha'],
    [{ version: '8.0.0', url: URL_OF_ZIP, sha: 'abc' }, 'sha', 'must be a SHA-256 checksum: 64 hexadecimal digits'],
    [
      { version: '8.0.0', url: 'https://user:secret@tools.example.com/t.zip', sha: SHA },
      'url',
      'must be an http or https URL without a user name, query or fragment, such as https://tools.example.com/terraform_1.5.7_linux_amd64.zip',
    ],
    [
      { version: '8.0.0', url: `${URL_OF_ZIP}?token=secret`, sha: SHA },
      'url',
      'without a user name, query or fragment',
    ],
    [{ version: '8.0.0', url: 'file:///etc/passwd', sha: SHA }, 'url', 'must be an http or https URL without'],
    [
      {
        version: '8.0.0',
        archs: ['a', 'b'].map((name) => ({ url: `https://x.test/${name}`, sha: SHA, os: 'linux', arch: 'arm64' })),
      },
      'archs/1',
      'Archs: linux_arm64 is named twice',
    ],
    [{ version: '8.0.0', 'deprecated-reason': 'old' }, 'deprecated-reason', 'only valid for deprecated versions'],
  ])('is refused as %j', async (attributes, name, problem) => {
    const [error] = expectStatus(await add(attributes), 422).body.errors;
    expect(error.source.pointer).toBe(`/data/attributes/${name}`);
    expect(error.detail).toContain(problem);
    expect(await list('filter[version]=8.0.0')).toEqual([]);
  });

  it('is added once by two requests at the same time', async () => {
    const answers = await Promise.all([add({ version: '7.2.0' }), add({ version: '7.2.0' })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422]);
    expect(await list('filter[version]=7.2.0')).toHaveLength(1);
  });

  it('is not chosen by workspaces while it is disabled, but those that have it keep it', async () => {
    const { id } = await addVersion({ version: '6.0.1' });
    const workspace = expectStatus(await createWorkspaceWith('6.0.1'), 201).body.data;
    expectStatus(await change(id, { enabled: false }), 200);
    const refused = expectStatus(await createWorkspaceWith('6.0.1'), 422).body.errors[0];
    expect(refused.detail).toBe('Terraform version 6.0.1 is disabled by the administrators of the site');
    const path = `/api/v2/workspaces/${workspace.id}`;
    expectStatus(await server.patch(path, resource('workspaces', { 'terraform-version': '6.0.1' })), 200);
    expectStatus(await server.patch(path, resource('workspaces', { 'terraform-version': '1.5.7' })), 200);
    expectStatus(await server.patch(path, resource('workspaces', { 'terraform-version': '6.0.1' })), 422);
    expectStatus(await change(id, { enabled: true }), 200);
    expectStatus(await server.patch(path, resource('workspaces', { 'terraform-version': '6.0.1' })), 200);
  });
});

describe('a release that the server lists', () => {
  it('is changed, but neither renamed nor deleted', async () => {
    const id = await idOf('1.4.1');
    const changed = { deprecated: true, 'deprecated-reason': 'It has a weakness.', url: URL_OF_ZIP, sha: SHA };
    expect(expectStatus(await change(id, changed), 200).body.data.attributes).toMatchObject({
      ...changed,
      official: true,
      'created-at': null,
    });
    expect(expectStatus(await change(id, { deprecated: false }), 200).body.data.attributes).toMatchObject({
      deprecated: false,
      'deprecated-reason': null,
      url: URL_OF_ZIP,
    });
    expectStatus(await change(id, { version: '1.4.99' }), 422);
    expectStatus(await change(id, { official: false }), 422);
    expectStatus(await server.delete(`${PATH}/${id}`), 422);
    expectStatus(await server.delete(`${PATH}/${await idOf('9.1.0')}`), 422);
  });

  it('has another address under its checksum, after both were set', async () => {
    const id = await idOf('1.4.2');
    expectStatus(await change(id, { url: URL_OF_ZIP }), 422);
    expectStatus(await change(id, { url: URL_OF_ZIP, sha: SHA }), 200);
    const url = 'https://mirror.example.com/terraform.zip';
    expect(expectStatus(await change(id, { url }), 200).body.data.attributes).toMatchObject({
      url,
      sha: SHA,
      archs: [{ url, sha: SHA, os: 'linux', arch: 'amd64' }],
    });
  });

  it('accepts its attributes as they are shown, and no other archives without checksums', async () => {
    const [{ id, attributes }] = await list('filter[version]=1.4.3');
    const { url, sha, archs } = attributes;
    expect(archs).toHaveLength(2);
    const changes = await server.store.log.stream('tool-site');
    expect(expectStatus(await change(id, { url, sha, archs }), 200).body.data.attributes).toEqual(attributes);
    expect(await server.store.log.stream('tool-site')).toEqual(changes);
    const signed = archs.map((archive: object) => ({ ...archive, sha: SHA }));
    for (const other of [[signed[0], archs[1]], [archs[0]]]) {
      const [error] = expectStatus(await change(id, { archs: other }), 422).body.errors;
      expect(error.source.pointer).toMatch(/^\/data\/attributes\/archs\/\d\/sha$/);
      expect(error.detail).toBe('Sha must be a SHA-256 checksum: 64 hexadecimal digits');
    }
    expectStatus(await change(id, { archs: signed }), 200);
    const mirror = 'https://mirror.example.com/terraform.zip';
    expect(expectStatus(await change(id, { url: mirror }), 200).body.data.attributes.archs).toEqual([
      { ...signed[0], url: mirror },
      signed[1],
    ]);
    expect(expectStatus(await change(id, { archs }), 200).body.data.attributes).toEqual(attributes);
  });

  it('is skipped by constraints while it is disabled', async () => {
    const createdRun = async () => {
      const { body } = expectStatus(await createWorkspaceWith('~> 0.13.0'), 201);
      await makeConfigurationVersion(server, body.data.id);
      const workspace = { data: { type: 'workspaces', id: body.data.id } };
      const run = await server.post('/api/v2/runs', resource('runs', {}, { workspace }));
      return expectStatus(run, 201).body.data.attributes['terraform-version'] as string;
    };
    expect(await createdRun()).toBe('0.13.7');
    expectStatus(await change(await idOf('0.13.7'), { enabled: false }), 200);
    expect(await createdRun()).toBe('0.13.6');
  });
});

describe('a release of OPA', () => {
  const OPA = '/api/v2/admin/opa-versions';
  const listOpa = async (query: string): Promise<any[]> =>
    expectStatus(await server.get(`${OPA}?${query}`), 200).body.data;
  const addOpa = (attributes: object) => server.post(OPA, resource('opa-versions', attributes));
  const changeOpa = (id: string, attributes: object) =>
    server.patch(`${OPA}/${id}`, resource('opa-versions', attributes));

  it('that the server lists has programs with checksums', async () => {
    const [release] = await listOpa('filter[version]=0.59.0');
    expect(release).toMatchObject({
      type: 'opa-versions',
      attributes: {
        url: 'https://github.com/open-policy-agent/opa/releases/download/v0.59.0/opa_linux_amd64_static',
        official: true,
        enabled: true,
        usage: 0,
        'created-at': null,
      },
      links: { self: `${OPA}/${release.id}` },
    });
    const all = await listOpa('page[size]=100');
    const archs: any[] = all.flatMap(({ attributes }) => attributes.archs as any[]);
    expect(new Set(archs.map(({ sha }) => sha as string)).size).toBe(2 * all.length);
    for (const { sha } of archs) expect(sha).toMatch(/^[0-9a-f]{64}$/);
    expect(all.map(({ attributes }) => attributes.version)).toEqual(
      all.map(({ attributes }) => attributes.version as string).toSorted(rcompare),
    );
    expect(expectStatus(await server.get(release.links.self), 200).body.data).toEqual(release);
    expectStatus(await server.delete(release.links.self), 422);
    const deprecated = { deprecated: true, 'deprecated-reason': 'It has a weakness.' };
    expect(expectStatus(await changeOpa(release.id, deprecated), 200).body.data.attributes).toMatchObject({
      ...deprecated,
      archs: release.attributes.archs,
    });
  });

  it('of the site is added, changed and deleted apart from the releases of terraform', async () => {
    const attributes = { version: '9.1.0', url: 'https://tools.example.com/opa', sha: SHA };
    const { id } = expectStatus(await addOpa(attributes), 201).body.data;
    expect(await listOpa('search[version]=9.1.0')).toMatchObject([
      { id, attributes: { ...attributes, official: false } },
    ]);
    expect((await list('filter[version]=9.1.0'))[0].id).not.toBe(id);
    expectStatus(await server.get(`${PATH}/${id}`), 404);
    expectStatus(await addOpa(attributes), 422);
    const sha = 'b'.repeat(64);
    expect(expectStatus(await changeOpa(id, { sha }), 200).body.data.attributes).toMatchObject({ ...attributes, sha });
    const refused = expectStatus(await changeOpa(id, { archs: [] }), 422).body.errors[0];
    expect(refused).toMatchObject({ source: { pointer: '/data/attributes/archs' } });
    expect(refused.detail).toBe('Archs: a version of OPA needs at least one archive, or url and sha');
    expectStatus(await addOpa({ version: '9.1.1' }), 422);
    expectStatus(await server.delete(`${OPA}/${id}`), 204);
    expect(await listOpa('filter[version]=9.1.0')).toEqual([]);
    expectStatus(await server.delete(`${OPA}/${id}`), 404);
  });
});

it('matches the log in its view', async () => {
  await expectViewsMatchLog(server, [workspacesDefinition]);
});

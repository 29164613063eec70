import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rcompare } from 'semver';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
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
        url: null,
        sha: null,
        archs: [],
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
    expect(added.attributes).toMatchObject({ official: false, beta: true, usage: 0 });
  });

  it('are found by their exact version, or by a text in it', async () => {
    expect(await listVersions('filter[version]=1.5')).toEqual([]);
    expect(await listVersions('search[version]=9.')).toEqual(expect.arrayContaining(['9.1.0', '1.9.8']));
    expect(await listVersions('search[version]=2.0-rc')).toEqual(['9.2.0-rc1']);
    expect(await listVersions('filter[version]=1.5.7&search[version]=9.1')).toEqual(['1.5.7']);
    expect(await listVersions('filter[version]=&search[version]=2.0-rc')).toEqual(['9.2.0-rc1']);
    expectStatus(await server.get(`${PATH}?filter[beta]=true`), 400);
  });

  it('cannot be changed by requests', async () => {
    const body = resource('terraform-versions', { version: '9.9.9', url: 'https://127.0.0.1/t.zip', sha: 'abc' });
    const [release] = await list('filter[version]=1.5.7');
    expectStatus(await server.post(PATH, body), 405);
    expectStatus(await server.patch(`${PATH}/${release.id}`, body), 405);
    expectStatus(await server.delete(`${PATH}/${release.id}`), 405);
    expect(await list('filter[version]=1.5.7')).toEqual([release]);
  });

  it('are hidden from others', async () => {
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const [release] = await list('filter[version]=1.5.7');
    expectStatus(await token.get(PATH), 404);
    expectStatus(await token.get(`${PATH}/${release.id}`), 404);
  });
});

import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromTheFullHour } from '../../../test/support/clocks.js';
import {
  makeModule,
  makeModuleVersion,
  packModule,
  pathOfModule,
  publishModuleVersion,
} from '../../../test/support/registry-modules.js';
import { settleNeighbours } from '../../../test/support/registry.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganizationToken,
  makeRemotePool,
  makeRun,
  makeToken,
  makeWorkspace,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';

const MODULES = '/api/registry/v1/modules';
const clock = fromTheFullHour();

let server: TestServer;
let member: ApiTestClient;
let stranger: ApiTestClient;
let archive: Buffer;

beforeAll(async () => {
  server = await startTestServer({ clock });
  ({ member, stranger } = await settleNeighbours(server));
  archive = await packModule({ 'main.tf': 'output "one" { value = 1 }', 'modules/two/main.tf': '' });
  await makeModule(server, 'acme', 'Network');
  for (const version of ['1.9.0', '2.0.0-beta', '1.10.0'])
    await publishModuleVersion(server, 'acme', 'Network', version, archive);
  await makeModuleVersion(server, 'acme', 'Network', '3.0.0');
  await makeModule(server, 'acme', 'empty');
});

afterAll(() => server.close());

const linkOf = async (client: ApiTestClient, version = '1.10.0'): Promise<string> => {
  const answer = expectStatus(await client.get(`${MODULES}/acme/network/aws/${version}/download`), 204);
  return answer.headers.get('x-terraform-get') ?? '';
};

type HeadResponse = { readonly status: number | undefined; readonly headers: NodeJS.Dict<string | string[]> };

const head = (path: string): Promise<HeadResponse> =>
  new Promise((resolve, reject) => {
    httpRequest(`${server.url}${path}`, { method: 'HEAD', agent: false }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode, headers: response.headers }));
    })
      .once('error', reject)
      .end();
  });

describe('the module registry protocol', () => {
  it('lists the versions with an archive, the newest first and releases before pre-releases', async () => {
    const answer = expectStatus(await member.get(`${MODULES}/ACME/network/aws/versions`), 200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.body).toEqual({
      modules: [
        {
          source: 'acme/Network/aws',
          versions: [{ version: '1.10.0' }, { version: '1.9.0' }, { version: '2.0.0-beta' }],
        },
      ],
    });
  });

  it('sends clients to a link that needs no token, ends with .tar.gz and ends after 15 minutes', async () => {
    const link = await linkOf(member);
    expect(link).toMatch(/\/Network-aws-1\.10\.0\.tar\.gz$/);
    const { pathname } = new URL(link);
    const answer = expectStatus(await server.as(null).get(pathname), 200);
    expect(answer.headers.get('content-type')).toBe('application/gzip');
    expect(answer.headers.get('content-length')).toBe(String(archive.length));
    expect(await head(pathname)).toMatchObject({ status: 200, headers: { 'content-length': String(archive.length) } });
    expectStatus(await server.as(null).get(pathname.replace('1.10.0', '1.9.0')), 404);
    clock.pass({ ms: 16 * 60 * 1000 });
    expectStatus(await server.as(null).get(pathname), 403);
  });

  it('shows a module and one of its versions', async () => {
    const summary = { namespace: 'acme', name: 'Network', provider: 'aws', downloads: 0, verified: false };
    expect(expectStatus(await member.get(`${MODULES}/acme/network/aws`), 200).body).toMatchObject({
      ...summary,
      id: 'acme/Network/aws/1.10.0',
      version: '1.10.0',
      versions: ['1.10.0', '1.9.0', '2.0.0-beta'],
      published_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const beta = expectStatus(await member.get(`${MODULES}/acme/network/aws/2.0.0-beta`), 200).body;
    expect(beta).toMatchObject({ ...summary, version: '2.0.0-beta' });
  });

  it('lists and finds the modules of the organizations of the caller, page by page', async () => {
    await makeModule(server, 'neighbour', 'network-2');
    await publishModuleVersion(server, 'neighbour', 'network-2', '0.1.0');
    const idsFor = async (client: ApiTestClient, path: string): Promise<string[]> =>
      expectStatus(await client.get(MODULES + path), 200).body.modules.map(({ id }: { id: string }) => id);
    expect(await idsFor(member, '')).toEqual(['acme/Network/aws/1.10.0']);
    expect(await idsFor(stranger, '')).toEqual(['neighbour/network-2/aws/0.1.0']);
    expect(await idsFor(server, '/search?q=NETWORK')).toEqual([
      'acme/Network/aws/1.10.0',
      'neighbour/network-2/aws/0.1.0',
    ]);
    expect(await idsFor(server, '/search?q=network&namespace=acme&provider=aws')).toEqual(['acme/Network/aws/1.10.0']);
    expect(await idsFor(member, '/neighbour')).toEqual([]);
    const first = expectStatus(await server.get(`${MODULES}?limit=1`), 200).body;
    expect(first.meta).toEqual({ limit: 1, current_offset: 0, next_offset: 1 });
    const second = expectStatus(await server.get(`${MODULES}?limit=1&offset=1`), 200).body;
    expect(second.meta).toEqual({ limit: 1, current_offset: 1 });
    for (const query of ['limit=many', 'limit=101', 'offset=-1'])
      expectStatus(await server.get(`${MODULES}?${query}`), 400);
  });

  it('says in its own format what is missing', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['/acme/network/google/versions', 'There is no module acme/network/google'],
      ['/acme/network/aws/3.0.0/download', 'There is no version 3.0.0'],
      ['/acme/empty/aws', 'The module has no version'],
    ];
    for (const [path, reason] of cases)
      expect(expectStatus(await member.get(MODULES + path), 404).body).toEqual({ errors: [reason] });
    expectStatus(await stranger.get(`${MODULES}/acme/network/aws/versions`), 404);
    expectStatus(await server.as(null).get(`${MODULES}/acme/network/aws/versions`), 401);
  });

  it('serves organizations, and runs with relative links at an internal address', async () => {
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    expect(await linkOf(organization)).toMatch(/^http/);
    const pool = await makeRemotePool(server, 'acme', 'pool');
    const agents = server.as(await makeAgentToken(server, pool));
    const workspace = await makeWorkspace(server, 'acme', 'one', { 'execution-mode': 'agent', 'agent-pool-id': pool });
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace);
    const inRun = server.as(await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`));
    const link = await linkOf(inRun);
    expect(link).toMatch(/^\/api\/registry\/private\/v2\/modules\/object\//);
    expectStatus(await server.as(null).get(link), 200);
    expectStatus(await inRun.get(pathOfModule('acme', 'network')), 200);
    expectStatus(await inRun.delete(pathOfModule('acme', 'network')), 404);
  });
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { newStateVersion } from '../../../../test/support/state-file.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

const PATH = '/api/v2/organizations/acme/resource-statistics';

let server: TestServer;
let first: string;
let second: string;

const LINEAGE = '0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9';
const NULL = 'provider["registry.terraform.io/hashicorp/null"]';
const AWS = 'provider["registry.terraform.io/hashicorp/aws"]';

type Managed = { readonly provider: string; readonly type: string; readonly count: number };

/** Uploads a state with these resources. */
const upload = async (workspace: string, serial: number, resources: readonly Managed[]): Promise<void> => {
  const bytes = Buffer.from(
    JSON.stringify({
      version: 4,
      terraform_version: '1.11.4',
      serial,
      lineage: LINEAGE,
      outputs: {},
      resources: resources.map(({ provider, type, count }) => ({
        mode: 'managed',
        type,
        name: 'one',
        provider,
        instances: Array.from({ length: count }, (_, index) => ({
          index_key: index,
          schema_version: 0,
          attributes: {},
        })),
      })),
    }),
  );
  const md5 = createHash('md5').update(bytes).digest('hex');
  const body = newStateVersion({ serial, lineage: LINEAGE, bytes, md5 }, { inline: true });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

const read = async (api: ApiTestClient = server): Promise<any> =>
  expectStatus(await api.get(PATH), 200).body.data.attributes;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  [first, second] = [await makeWorkspace(server, 'acme', 'first'), await makeWorkspace(server, 'acme', 'second')];
  await makeWorkspace(server, 'acme', 'empty');
});

afterAll(() => server.close());

describe('the statistics of resources', () => {
  it('are empty without a state', async () => {
    expect(await read()).toEqual({ 'state-count': 0, 'resource-count': 0, 'type-count': 0, types: [] });
  });

  it('count the resources of current states by provider and type, the most first', async () => {
    await upload(first, 1, [{ provider: NULL, type: 'null_resource', count: 9 }]);
    await upload(first, 2, [
      { provider: NULL, type: 'null_resource', count: 2 },
      { provider: AWS, type: 'aws_subnet', count: 1 },
    ]);
    await upload(second, 1, [{ provider: AWS, type: 'aws_subnet', count: 3 }]);
    expect(await read()).toEqual({
      'state-count': 2,
      'resource-count': 6,
      'type-count': 2,
      types: [
        { provider: AWS, type: 'aws-subnet', 'resource-count': 4, 'workspace-count': 2 },
        { provider: NULL, type: 'null-resource', 'resource-count': 2, 'workspace-count': 1 },
      ],
    });
  });

  it('count the states that the caller may read', async () => {
    const team = await makeTeam(server, 'acme', 'readers');
    await grantWorkspaceAccess(server, team, second, 'read');
    expect(await read(await makeMember(server, 'acme', 'reader', [team]))).toMatchObject({
      'state-count': 1,
      'resource-count': 3,
    });
    expect(await read(await makeMember(server, 'acme', 'nobody'))).toMatchObject({ 'state-count': 0 });
  });

  it('leave out states of workspaces of which the caller may read the runs only', async () => {
    const team = await makeTeam(server, 'acme', 'watchers');
    const access = resource(
      'team-workspaces',
      { access: 'custom', runs: 'read', 'state-versions': 'none' },
      {
        team: { data: { type: 'teams', id: team } },
        workspace: { data: { type: 'workspaces', id: second } },
      },
    );
    expectStatus(await server.post('/api/v2/team-workspaces', access), 201);
    expect(await read(await makeMember(server, 'acme', 'watcher', [team]))).toMatchObject({
      'state-count': 0,
      types: [],
    });
  });

  it('do not exist for people outside the organization', async () => {
    expectStatus(await (await makeMember(server, 'neighbour', 'stranger')).get(PATH), 404);
  });

  it('are read with one statement', async () => {
    expect(await costOf(server, () => server.get(PATH))).toMatchObject({ status: 200, statements: 1, roundTrips: 1 });
  });
});

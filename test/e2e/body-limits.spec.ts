import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeOrganization, makeTeam, makeWorkspace, resource } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const KIB = 1024;
const MIB = KIB * KIB;

let server: TestServer;
let workspace: string;
let team: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'limited');
  team = await makeTeam(server, 'acme', 'large');
});

afterAll(() => server.close());

const send = (line: string, body: string): Promise<{ status: number; text: string }> => {
  const [method = '', path = ''] = line.split(' ');
  return server[method.toLowerCase() as 'post' | 'patch' | 'put' | 'delete'](`/api/v2/${path}`, body);
};

describe('the body of a request', () => {
  it.each([
    ['POST organizations', '256 KiB', 256 * KIB],
    ['POST workspaces/ws-1/actions/lock', '256 KiB', 256 * KIB],
    ['POST organizations/acme/workspaces', '1 MiB', MIB],
    ['PATCH workspaces/ws-1', '1 MiB', MIB],
    ['PATCH organizations/acme/workspaces/limited', '1 MiB', MIB],
    ['POST projects/prj-1/relationships/workspaces', '1 MiB', MIB],
    ['PATCH workspaces/ws-1/relationships/remote-state-consumers', '1 MiB', MIB],
    ['POST workspaces/ws-1/relationships/tags', '1 MiB', MIB],
    ['DELETE organizations/acme/tags', '1 MiB', MIB],
    ['POST tags/tag-1/relationships/workspaces', '1 MiB', MIB],
    ['POST teams/team-1/relationships/users', '1 MiB', MIB],
    ['DELETE teams/team-1/relationships/organization-memberships', '1 MiB', MIB],
    ['POST workspaces/ws-1/vars', '1 MiB', MIB],
    ['PATCH vars/var-1', '1 MiB', MIB],
    ['POST varsets/varset-1/relationships/vars', '1 MiB', MIB],
    ['POST organizations/acme/varsets', '2 MiB', 2 * MIB],
    ['PUT varsets/varset-1', '2 MiB', 2 * MIB],
    ['POST runs', '2 MiB', 2 * MIB],
    ['POST organizations/acme/audit-facts', '2 MiB', 2 * MIB],
  ])('of %s may have up to %s', async (line, size, limit) => {
    // Blanks are no JSON, so 400 means that the server has read the whole body.
    expect((await send(line, ' '.repeat(limit))).status).toBe(400);
    const { status, text } = await send(line, ' '.repeat(limit + 1));
    expect([status, text]).toEqual([413, expect.stringContaining(`This request accepts at most ${size}.`)]);
  });

  it('is accepted with the largest values that the attributes allow', async () => {
    const value = '"'.repeat(256 * KIB);
    const variable = resource('vars', { key: 'long', value, category: 'env', hcl: false, sensitive: false });
    expect((await server.post(`/api/v2/workspaces/${workspace}/vars`, variable)).status).toBe(201);
    const patterns = Array.from({ length: 40 }, (_, n) => `${n}`.padEnd(500, 'é'));
    const attributes = { 'trigger-patterns': patterns, description: 'é'.repeat(10_000) };
    const changed = await server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', attributes));
    expect({ status: changed.status, text: changed.status === 200 ? '' : changed.text }).toEqual({
      status: 200,
      text: '',
    });
    const users = { data: Array.from({ length: 5_000 }, (_, n) => ({ type: 'users', id: `somebody-${n}` })) };
    expect((await server.post(`/api/v2/teams/${team}/relationships/users`, users)).status).not.toBe(413);
  });
});

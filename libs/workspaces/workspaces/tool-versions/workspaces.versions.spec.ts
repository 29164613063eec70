import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeWorkspace,
  refusalOf,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { ToolReleases } from './tool-releases.catalogue.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const PATH = '/api/v2/organizations/acme/workspaces';

let count = 0;
const newName = (): string => `ws-${(count += 1)}`;

const create = (attributes: object = {}, relationships?: object): Promise<ApiResponse> =>
  server.post(PATH, resource('workspaces', { name: newName(), ...attributes }, relationships));
const createWithAttributes = async (attributes: object = {}, relationships?: object): Promise<string> =>
  expectStatus(await create(attributes, relationships), 201).body.data.id as string;
const update = (id: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
  server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships));
const getAttributes = async (id: string): Promise<Readonly<Record<string, unknown>>> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes;
const at = (path: string): string => `/data/attributes/${path}`;

const LATEST = new ToolReleases().latest;

describe('the tool version of a workspace', () => {
  const NAMES = ['iac-version', 'terraform-version'] as const;
  const both = (value: string) => Object.fromEntries(NAMES.map((name) => [name, value]));
  const UNKNOWN = 'is not a known release. An operator can add releases with the setting CADASTRE_TOOL_RELEASES';

  it('is the newest release by default, and has two names', async () => {
    const id = await createWithAttributes();
    expect(await getAttributes(id)).toMatchObject(both(LATEST));
    for (const [index, name] of NAMES.entries()) {
      const value = `1.${index + 1}.0`;
      expect(expectStatus(await update(id, { [name]: value }), 200).body.data.attributes).toMatchObject(both(value));
      expect(await getAttributes(await createWithAttributes({ [name]: value }))).toMatchObject(both(value));
    }
    expect(expectStatus(await update(id, both('1.5.7')), 200).body.data.attributes).toMatchObject(both('1.5.7'));
    const differing = { 'iac-version': '1.5.7', 'terraform-version': '1.5.6' };
    const detail = 'Iac version and Terraform version are one, and must not differ';
    expect(refusalOf(await update(id, differing))).toEqual([at('iac-version'), detail]);
    expect(refusalOf(await create(differing))).toEqual([at('iac-version'), detail]);
  });

  it.each(['~> 1.5.0', '>= 1.3, < 1.6', '!= 1.4.2', '= 1.5.7', 'latest', '1.17.0-beta1'])(
    'may be %s',
    async (value) => {
      expect(await getAttributes(await createWithAttributes({ 'iac-version': value }))).toMatchObject(both(value));
    },
  );

  it.each([
    ['9.9.9', `9.9.9 ${UNKNOWN}`],
    ['> 9', '> 9 is met by no known release. An operator can add releases with the setting CADASTRE_TOOL_RELEASES'],
    ['newest', 'must be a release such as 1.5.7, a constraint such as ~> 1.5.0, or latest'],
    ['', 'must be a release such as 1.5.7, a constraint such as ~> 1.5.0, or latest'],
  ])('is refused as %j', async (value, problem) => {
    const id = await createWithAttributes();
    for (const [name, label] of [
      ['iac-version', 'Iac version'],
      ['terraform-version', 'Terraform version'],
    ] as const) {
      expect(refusalOf(await create({ [name]: value }))).toEqual([at(name), `${label} ${problem}`]);
      expect(refusalOf(await update(id, { [name]: value }))).toEqual([at(name), `${label} ${problem}`]);
    }
  });

  it('is the version of the CLI, however new, and may be written back', async () => {
    const id = await createWithAttributes();
    const patch = (path: string, value: string, headers: Record<string, string>): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        method: 'PATCH',
        headers: {
          authorization: `Bearer ${server.adminToken}`,
          'content-type': 'application/vnd.api+json',
          ...headers,
        },
        body: JSON.stringify(resource('workspaces', { 'terraform-version': value })),
      });
    const path = `/api/v2/workspaces/${id}`;
    expect((await patch(path, '9.9.9', {})).status).toBe(422);
    expect((await patch(path, '9.9.9', { 'terraform-version': '9.9.8' })).status).toBe(422);
    expect((await patch(path, '9.9.9', { 'terraform-version': '9.9.9' })).status).toBe(200);
    expect((await patch(path, '9.9.9', {})).status).toBe(200);
    expect(await getAttributes(id)).toMatchObject(both('9.9.9'));
    const { name } = await getAttributes(id);
    expect((await patch(`${PATH}/${String(name)}`, '9.9.10', { 'terraform-version': '9.9.10' })).status).toBe(200);
  });

  it('is a release for each run, even if the workspace has a constraint', async () => {
    const id = await createWithAttributes({ 'terraform-version': '~> 1.5.0' });
    await makeConfigurationVersion(server, id);
    const body = resource('runs', {}, { workspace: { data: { type: 'workspaces', id } } });
    const run = expectStatus(await server.post('/api/v2/runs', body), 201).body.data;
    expect(run.attributes['terraform-version']).toBe('1.5.7');
    expect(await getAttributes(id)).toMatchObject(both('~> 1.5.0'));
    const automatic = await createWithAttributes({ 'terraform-version': 'latest', 'queue-all-runs': true });
    await makeConfigurationVersion(server, automatic, { 'auto-queue-runs': true });
    const { body: runs } = expectStatus(await server.get(`/api/v2/workspaces/${automatic}/runs`), 200);
    expect(runs.data.map((one: any) => one.attributes['terraform-version'])).toEqual([LATEST]);
  });
});

describe('the settings of an installation', () => {
  it('add releases, and share state by default', async () => {
    const otherServer = await startTestServer({
      env: { CADASTRE_TOOL_RELEASES: '9.9.9', CADASTRE_GLOBAL_REMOTE_STATE: 'true' },
    });
    await makeOrganization(otherServer, 'acme');
    const create = async (attributes: object = {}) => {
      const id = await makeWorkspace(otherServer, 'acme', newName(), attributes);
      return (await otherServer.get(`/api/v2/workspaces/${id}`)).body.data.attributes;
    };
    expect(await create()).toMatchObject({ 'terraform-version': '9.9.9', 'global-remote-state': true });
    expect(await create({ 'global-remote-state': false })).toMatchObject({ 'global-remote-state': false });
    expect(await create({ 'project-remote-state': true })).toMatchObject({
      'global-remote-state': false,
      'project-remote-state': true,
    });
    await otherServer.close();
  });
});

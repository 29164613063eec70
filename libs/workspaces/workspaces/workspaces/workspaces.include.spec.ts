import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  grantProjectAccess,
  makeAgentPool,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { makeVariable } from '../../../../test/support/variables.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { WORKSPACE_INCLUDES } from './workspaces.include.js';

type RenderedIdentifier = { readonly type: string; readonly id: string };

let server: TestServer;
let acme: SeededOrganization;
/** A workspace with a state and its outputs, tags, and a run that holds the lock. */
let completeWorkspace: string;
let run: string;
let configuration: string;
let stateVersion: string;

const ALL = WORKSPACE_INCLUDES.join(',');

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
  const tags = { 'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] } };
  completeWorkspace = await makeWorkspace(server, 'acme', 'whole', {}, tags);
  stateVersion = await makeState(completeWorkspace);
  configuration = await makeConfigurationVersion(server, completeWorkspace);
  await makeVariable(server, `/api/v2/workspaces/${completeWorkspace}/vars`, { value: 'for-readers-of-variables' });
  run = await makeRun(server, completeWorkspace, { variables: [{ key: 'region', value: '"eu"' }] });
});

afterAll(() => server.close());

/** Uploads a current state version with two outputs, and returns its id. */
const makeState = async (workspace: string): Promise<string> => {
  const outputs = {
    open: { value: 'for-all-to-see', type: 'string' },
    secret: { value: 'hunter2-of-the-output', type: 'string', sensitive: true },
  };
  const body = newStateVersion(stateFile({ outputs }), { inline: true });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const { data } = expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201).body;
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  return data.id as string;
};

const namesOf = (included: readonly RenderedIdentifier[]): string[] =>
  included.map(({ type, id }) => `${type} ${id}`).toSorted();

const show = async (id: string, include: string, api: ApiTestClient = server): Promise<any> =>
  expectStatus(await api.get(`/api/v2/workspaces/${id}?include=${include}`), 200).body;

/** Returns the document of a resource's own endpoint. */
const own = async (path: string, api: ApiTestClient = server): Promise<unknown> =>
  expectStatus(await api.get(`/api/v2/${path}`), 200).body.data;

describe('each value of include', () => {
  const RESOURCES: Readonly<Record<string, () => readonly Promise<unknown>[]>> = {
    current_configuration_version: () => [own(`configuration-versions/${configuration}`)],
    'current_configuration_version.ingress_attributes': () => [own(`configuration-versions/${configuration}`)],
    current_run: () => [own(`runs/${run}`)],
    'current_run.configuration_version': () => [own(`runs/${run}`), own(`configuration-versions/${configuration}`)],
    'current_run.configuration_version.ingress_attributes': () => [
      own(`runs/${run}`),
      own(`configuration-versions/${configuration}`),
    ],
    'current_run.apply': () => [own(`runs/${run}`), own(`runs/${run}/apply`)],
    latest_run: () => [own(`runs/${run}`)],
    'latest_run.plan': () => [own(`runs/${run}`), own(`runs/${run}/plan`)],
    'latest_run.configuration_version': () => [own(`runs/${run}`), own(`configuration-versions/${configuration}`)],
    'current_run.plan': () => [own(`runs/${run}`), own(`runs/${run}/plan`)],
    current_state_version: () => [own(`state-versions/${stateVersion}`)],
    locked_by: () => [own(`runs/${run}`)],
    organization: () => [own('organizations/acme')],
    project: () => [own(`projects/${acme.defaultProject}`)],
    readme: () => [],
    current_assessment_result: () => [],
    'current_state_version.resources_processed': () => [own(`state-versions/${stateVersion}`)],
    no_code_module_version: () => [],
    'no_code_module_version.no_code_module.latest_version': () => [],
    vars: () => [own(`workspaces/${completeWorkspace}/vars`)],
    effective_tag_bindings: () => [own(`workspaces/${completeWorkspace}/effective-tag-bindings`)],
    tag_bindings: () => [own(`workspaces/${completeWorkspace}/tag-bindings`)],
  };

  it.each(Object.entries(RESOURCES))(
    'adds the documents of the resources’ own endpoints: %s',
    async (value, resources) => {
      const expected = (await Promise.all(resources())).flat();
      const byId = await show(completeWorkspace, value);
      expect(byId.included).toEqual(expected);
      const byName = expectStatus(
        await server.get(`/api/v2/organizations/acme/workspaces/whole?include=${value}`),
        200,
      ).body;
      expect(byName).toEqual(byId);
      const list = expectStatus(
        await server.get(`/api/v2/organizations/acme/workspaces?search[name]=whole&include=${value}`),
        200,
      ).body;
      expect([list.data, list.included]).toEqual([[byId.data], byId.included]);
    },
  );

  it('is accepted with hyphens and blanks, and all values can be combined', async () => {
    const body = await show(completeWorkspace, ALL);
    const types = body.included.map(({ type }: RenderedIdentifier) => type).toSorted();
    expect(types).toEqual([
      'applies',
      'configuration-versions',
      'effective-tag-bindings',
      'organizations',
      'plans',
      'projects',
      'runs',
      'state-versions',
      'tag-bindings',
      'vars',
      'workspace-outputs',
      'workspace-outputs',
    ]);
    const written = encodeURIComponent(ALL.replaceAll('_', '-').replaceAll(',', ' , '));
    expect(await show(completeWorkspace, written)).toEqual(body);
    expect((await show(completeWorkspace, '')).included).toEqual([]);
  });

  it('forms no cycle of linkage, because go-tfe resolves every identifier in a document until its stack overflows', async () => {
    const { included } = await show(completeWorkspace, ALL);
    const leadsTo = ({ relationships = {} }: any): unknown[] =>
      Object.values<any>(relationships).flatMap(({ data }) =>
        [data ?? []]
          .flat()
          .flatMap(({ type, id }) => included.filter((one: RenderedIdentifier) => one.type === type && one.id === id)),
      );
    const hasCycle = (resource: unknown, path: readonly unknown[] = []): boolean =>
      path.includes(resource) || leadsTo(resource).some((next) => hasCycle(next, [...path, resource]));
    expect(included.filter((resource: unknown) => hasCycle(resource))).toEqual([]);
    expect(await show(completeWorkspace, 'organization')).toMatchObject({
      included: [{ relationships: { 'default-project': { data: { id: acme.defaultProject } } } }],
    });
  });

  it('adds the agent pool', async () => {
    const pool = await makeAgentPool(server, 'acme', 'edge');
    const pooled = await makeWorkspace(server, 'acme', 'pooled', { 'execution-mode': 'agent', 'agent-pool-id': pool });
    expect((await show(pooled, 'agent_pool')).included).toEqual([await own(`agent-pools/${pool}`)]);
  });

  it('records that variables were read, as for a list of them', async () => {
    await show(completeWorkspace, 'vars');
    const [event] = await server.database.rows<{ readonly data: unknown }>(
      sql`select data from event_store.events where type = 'VariablesListed' order by position desc limit 1`,
    );
    expect(event?.data).toEqual({ owner: { type: 'workspaces', id: completeWorkspace }, count: 1 });
  });

  it('adds outputs without sensitive values', async () => {
    const { data, included } = await show(completeWorkspace, 'outputs');
    expect(included.map(({ type, attributes }: any) => [type, attributes])).toEqual([
      ['workspace-outputs', { name: 'open', sensitive: false, 'output-type': 'string', value: 'for-all-to-see' }],
      ['workspace-outputs', { name: 'secret', sensitive: true, 'output-type': 'string', value: null }],
    ]);
    expect(namesOf(data.relationships.outputs.data)).toEqual(namesOf(included));
  });

  it('adds outputs without values if the files of the state are deleted', async () => {
    const lost = await makeWorkspace(server, 'acme', 'lost');
    const files = `state-versions/${await makeState(lost)}`;
    for (const kind of ['state', 'outputs']) await server.runtime.blobs.delete(`${files}/${kind}`);
    const { included } = await show(lost, 'outputs,current_state_version');
    expect(included.map(({ type, attributes }: any) => [type, attributes.value])).toEqual([
      ['state-versions', undefined],
      ['workspace-outputs', null],
      ['workspace-outputs', null],
    ]);
  });

  it('is refused if it is unknown', async () => {
    for (const path of [
      `workspaces/${completeWorkspace}`,
      'organizations/acme/workspaces/whole',
      'organizations/acme/workspaces',
    ]) {
      const { errors } = expectStatus(await server.get(`/api/v2/${path}?include=project,moon`), 400).body;
      expect(errors[0].detail).toMatch(/include parameter: moon .*current_run\.plan/);
    }
  });
});

describe('the included holder of the lock', () => {
  let count = 0;
  const lockedBy = async (holder: ApiTestClient, organization = 'acme'): Promise<string> => {
    const id = await makeWorkspace(server, organization, `locked-${(count += 1)}`);
    expectStatus(await holder.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    return id;
  };

  it('is a user or a team, as the caller may see it', async () => {
    const managers = await makeTeam(server, 'acme', 'managers', {
      'organization-access': { 'manage-workspaces': true },
    });
    const hidden = await makeTeam(server, 'acme', 'hidden', {
      visibility: 'secret',
      'organization-access': { 'manage-workspaces': true },
    });
    const member = await makeMember(server, 'acme', 'holder', [managers]);
    const mine = await lockedBy(member);
    const theirs = await lockedBy(server.as(await makeToken(server, `/api/v2/teams/${managers}/authentication-token`)));
    const secret = await lockedBy(server.as(await makeToken(server, `/api/v2/teams/${hidden}/authentication-token`)));
    for (const api of [server, member]) {
      expect((await show(mine, 'locked_by', api)).included).toEqual([await own(`users/${member.id}`, api)]);
      expect((await show(theirs, 'locked_by', api)).included).toEqual([await own(`teams/${managers}`, api)]);
    }
    expect((await show(secret, 'locked_by')).included).toEqual([await own(`teams/${hidden}`)]);
    expect((await show(secret, 'locked_by', member)).included).toEqual([]);
  });

  it('may be an organization token, whose document equals that of its endpoint', async () => {
    const readers = await makeTeam(server, 'acme', 'readers', { 'organization-access': { 'read-workspaces': true } });
    const reader = await makeMember(server, 'acme', 'reader', [readers]);
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const id = await lockedBy(token);
    // It is shown nowhere else, so the relationship has no link.
    expect((await show(id, '')).data.relationships['locked-by']).toEqual({ data: { type: 'users', id: acme.id } });
    expect((await show(id, 'locked_by', token)).included).toEqual([await own('account/details', token)]);
    expect((await show(id, 'locked_by', reader)).included).toMatchObject([
      { id: acme.id, type: 'users', attributes: { username: 'acme', 'is-service-account': true } },
    ]);
  });

  it('is left out if the caller may not see the user or the team', async () => {
    // The site administrator belongs to the organizations that it created, but not to this one.
    await makeOrganization(await makeMember(server, 'acme', 'founder'), 'founded');
    const readers = await makeTeam(server, 'founded', 'readers', {
      'organization-access': { 'read-workspaces': true },
    });
    const reader = await makeMember(server, 'founded', 'local', [readers]);
    const id = await lockedBy(server, 'founded');
    const { data, included } = await show(id, 'locked_by', reader);
    expect(included).toEqual([]);
    expectStatus(await reader.get(`/api/v2/users/${data.relationships['locked-by'].data.id}`), 404);
    expect((await show(id, 'locked_by')).included).toEqual([await own('account/details')]);
  });
});

describe('a list of workspaces with include', () => {
  it('has each shared resource once', async () => {
    const holders: string[] = [];
    for (let n = 0; n < 20; n += 1) holders.push(await makeWorkspace(server, 'acme', `shared-${n}`));
    for (const id of holders) expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    const path = `/api/v2/organizations/acme/workspaces?search[name]=shared-&include=${ALL}`;
    const { data, included } = expectStatus(await server.get(path), 200).body;
    expect(data).toHaveLength(20);
    const holder = ((await own('account/details')) as RenderedIdentifier).id;
    expect(namesOf(included)).toEqual(
      ['organizations acme', `projects ${acme.defaultProject}`, `users ${holder}`].toSorted(),
    );
  });
});

describe('include for a caller with fewer permissions', () => {
  let onlooker: SeededMember;

  beforeAll(async () => {
    const team = await makeTeam(server, 'acme', 'onlookers');
    await grantProjectAccess(server, team, acme.defaultProject, 'custom');
    onlooker = await makeMember(server, 'acme', 'onlooker', [team]);
  });

  it('shows identifiers, but no resources that the caller may not read', async () => {
    const { data, included } = await show(completeWorkspace, ALL, onlooker);
    expect(data.relationships['current-state-version'].data.id).toBe(stateVersion);
    expect(data.relationships.outputs.data).toEqual([]);
    const types = [...new Set(included.map(({ type }: RenderedIdentifier) => type))].toSorted();
    expect(types).toEqual([
      'applies',
      'configuration-versions',
      'effective-tag-bindings',
      'organizations',
      'plans',
      'projects',
      'runs',
      'tag-bindings',
    ]);
    expect(JSON.stringify(included)).not.toMatch(/for-all-to-see|for-readers-of-variables|"value":"\\"eu/);
  });

  it('shows resources with the caller’s own permissions', async () => {
    const { included } = await show(completeWorkspace, ALL, onlooker);
    const the = (type: string) => included.find((resource: RenderedIdentifier) => resource.type === type);
    expect(the('runs')).toEqual(await own(`runs/${run}`, onlooker));
    expect(the('projects')).toEqual(await own(`projects/${acme.defaultProject}`, onlooker));
    const { included: organizations } = await show(completeWorkspace, 'organization', onlooker);
    expect(organizations).toEqual([await own('organizations/acme', onlooker)]);
    expect(the('projects').attributes.permissions['can-update']).toBe(false);
    expect(the('runs').attributes.variables).toEqual([]);
  });
});

describe('an include of workspaces from other resources', () => {
  it('shows the documents of their own endpoints', async () => {
    const set = resource(
      'varsets',
      { name: 'shared' },
      {
        workspaces: { data: [{ type: 'workspaces', id: completeWorkspace }] },
        projects: { data: [{ type: 'projects', id: acme.defaultProject }] },
      },
    );
    const created = expectStatus(await server.post('/api/v2/organizations/acme/varsets', set), 201).body.data;
    const documents = [await own(`workspaces/${completeWorkspace}`), await own(`projects/${acme.defaultProject}`)];
    const ofSet = await server.get(`/api/v2/varsets/${created.id}?include=workspaces,projects`);
    expect(expectStatus(ofSet, 200).body.included).toEqual(documents);
    const ofRun = await server.get(`/api/v2/runs/${run}?include=workspace,created_by`);
    expect(namesOf(expectStatus(ofRun, 200).body.included)).toEqual(
      namesOf([documents[0] as RenderedIdentifier, (await own('account/details')) as RenderedIdentifier]),
    );
    expect(ofRun.body.included).toContainEqual(documents[0]);
    expect(ofRun.body.included).toContainEqual(await own('account/details'));
  });
});

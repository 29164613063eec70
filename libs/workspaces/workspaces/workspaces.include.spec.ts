import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  grantProjectAccess,
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
} from '../../../test/support/seeds.js';
import { newStateVersion, stateFile } from '../../../test/support/state-file.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';

type Shown = { readonly type: string; readonly id: string };

let server: TestServer;
let acme: SeededOrganization;
/** Has a state with outputs, tags, and a run that holds the lock. */
let whole: string;
let run: string;
let configuration: string;
let stateVersion: string;

/** The contract's (§4.3), and what clients add (clients.md §7). */
const ALL = [
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_run',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'current_state_version',
  'locked_by',
  'organization',
  'outputs',
  'project',
  'readme',
  'effective_tag_bindings',
  'tag_bindings',
].join(',');

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
  const tags = { 'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] } };
  whole = await makeWorkspace(server, 'acme', 'whole', {}, tags);
  stateVersion = await makeState(whole);
  configuration = await makeConfigurationVersion(server, whole);
  run = await makeRun(server, whole, { variables: [{ key: 'region', value: '"eu"' }] });
});

afterAll(() => server.close());

/** The id of a current state version with two outputs. */
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

const namesOf = (included: readonly Shown[]): string[] => included.map(({ type, id }) => `${type} ${id}`).toSorted();

const show = async (id: string, include: string, api: ApiTestClient = server): Promise<any> =>
  expectStatus(await api.get(`/api/v2/workspaces/${id}?include=${include}`), 200).body;

/** What its own endpoint answers with. */
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
    'current_run.plan': () => [own(`runs/${run}`), own(`runs/${run}/plan`)],
    current_state_version: () => [own(`state-versions/${stateVersion}`)],
    locked_by: () => [own(`runs/${run}`)],
    organization: () => [own('organizations/acme')],
    project: () => [own(`projects/${acme.defaultProject}`)],
    readme: () => [],
    effective_tag_bindings: () => [own(`workspaces/${whole}/effective-tag-bindings`)],
    tag_bindings: () => [own(`workspaces/${whole}/tag-bindings`)],
  };

  it.each(Object.entries(RESOURCES))('brings what its own endpoint answers with: %s', async (value, resources) => {
    const expected = (await Promise.all(resources())).flat();
    const byId = await show(whole, value);
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
  });

  it('is written with hyphens and blanks as well, and all of them come together', async () => {
    const body = await show(whole, ALL);
    const types = body.included.map(({ type }: Shown) => type).toSorted();
    expect(types).toEqual([
      'configuration-versions',
      'effective-tag-bindings',
      'organizations',
      'plans',
      'projects',
      'runs',
      'state-versions',
      'tag-bindings',
      'workspace-outputs',
      'workspace-outputs',
    ]);
    const written = encodeURIComponent(ALL.replaceAll('_', '-').replaceAll(',', ' , '));
    expect(await show(whole, written)).toEqual(body);
    expect((await show(whole, '')).included).toEqual([]);
  });

  it('goes round in no circles: go-tfe looks up every identifier in what came along, until its stack ends', async () => {
    const { included } = await show(whole, ALL);
    const leadsTo = ({ relationships = {} }: any): unknown[] =>
      Object.values<any>(relationships).flatMap(({ data }) =>
        [data ?? []]
          .flat()
          .flatMap(({ type, id }) => included.filter((one: Shown) => one.type === type && one.id === id)),
      );
    const goesRound = (resource: unknown, way: readonly unknown[] = []): boolean =>
      way.includes(resource) || leadsTo(resource).some((next) => goesRound(next, [...way, resource]));
    expect(included.filter((resource: unknown) => goesRound(resource))).toEqual([]);
    expect(await show(whole, 'organization')).toMatchObject({
      included: [{ relationships: { 'default-project': { data: { id: acme.defaultProject } } } }],
    });
  });

  it('brings outputs without values that are sensitive', async () => {
    const { data, included } = await show(whole, 'outputs');
    expect(included.map(({ type, attributes }: any) => [type, attributes])).toEqual([
      ['workspace-outputs', { name: 'open', sensitive: false, 'output-type': 'string', value: 'for-all-to-see' }],
      ['workspace-outputs', { name: 'secret', sensitive: true, 'output-type': 'string', value: null }],
    ]);
    expect(namesOf(data.relationships.outputs.data)).toEqual(namesOf(included));
  });

  it('brings outputs without values if the files of the state are gone', async () => {
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

  it('is known, or the request is refused', async () => {
    for (const path of [
      `workspaces/${whole}`,
      'organizations/acme/workspaces/whole',
      'organizations/acme/workspaces',
    ]) {
      const { errors } = expectStatus(await server.get(`/api/v2/${path}?include=project,moon`), 400).body;
      expect(errors[0].detail).toMatch(/include parameter: moon .*current_run\.plan/);
    }
  });
});

describe('who holds the lock', () => {
  let made = 0;
  const lockedBy = async (holder: ApiTestClient, organization = 'acme'): Promise<string> => {
    const id = await makeWorkspace(server, organization, `locked-${(made += 1)}`);
    expectStatus(await holder.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    return id;
  };

  it('comes along as the user or the team that it is, in the eyes of the caller', async () => {
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

  it('may be an organization’s token, which is shown as it shows itself', async () => {
    const readers = await makeTeam(server, 'acme', 'readers', { 'organization-access': { 'read-workspaces': true } });
    const reader = await makeMember(server, 'acme', 'reader', [readers]);
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const id = await lockedBy(token);
    // Nowhere else is it shown, so no link leads there.
    expect((await show(id, '')).data.relationships['locked-by']).toEqual({ data: { type: 'users', id: acme.id } });
    expect((await show(id, 'locked_by', token)).included).toEqual([await own('account/details', token)]);
    expect((await show(id, 'locked_by', reader)).included).toMatchObject([
      { id: acme.id, type: 'users', attributes: { username: 'acme', 'is-service-account': true } },
    ]);
  });

  it('is left out where the caller may not know them', async () => {
    // The site's administrator belongs to the organizations that they founded, and not to this one.
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

describe('many workspaces', () => {
  it('bring what they share along once', async () => {
    const held: string[] = [];
    for (let n = 0; n < 20; n += 1) held.push(await makeWorkspace(server, 'acme', `shared-${n}`));
    for (const id of held) expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    const path = `/api/v2/organizations/acme/workspaces?search[name]=shared-&include=${ALL}`;
    const { data, included } = expectStatus(await server.get(path), 200).body;
    expect(data).toHaveLength(20);
    const holder = ((await own('account/details')) as Shown).id;
    expect(namesOf(included)).toEqual(
      ['organizations acme', `projects ${acme.defaultProject}`, `users ${holder}`].toSorted(),
    );
  });
});

describe('who may read less', () => {
  let onlooker: SeededMember;

  beforeAll(async () => {
    const team = await makeTeam(server, 'acme', 'onlookers');
    await grantProjectAccess(server, team, acme.defaultProject, 'custom');
    onlooker = await makeMember(server, 'acme', 'onlooker', [team]);
  });

  it('is told what there is, and nothing that is in it', async () => {
    const { data, included } = await show(whole, ALL, onlooker);
    expect(data.relationships['current-state-version'].data.id).toBe(stateVersion);
    expect(data.relationships.outputs.data).toEqual([]);
    const types = [...new Set(included.map(({ type }: Shown) => type))].toSorted();
    expect(types).toEqual([
      'configuration-versions',
      'effective-tag-bindings',
      'organizations',
      'plans',
      'projects',
      'runs',
      'tag-bindings',
    ]);
    expect(JSON.stringify(included)).not.toMatch(/for-all-to-see|"value":"\\"eu/);
  });

  it('sees everything in their own permissions', async () => {
    const { included } = await show(whole, ALL, onlooker);
    const the = (type: string) => included.find((found: Shown) => found.type === type);
    expect(the('runs')).toEqual(await own(`runs/${run}`, onlooker));
    expect(the('projects')).toEqual(await own(`projects/${acme.defaultProject}`, onlooker));
    const { included: organizations } = await show(whole, 'organization', onlooker);
    expect(organizations).toEqual([await own('organizations/acme', onlooker)]);
    expect(the('projects').attributes.permissions['can-update']).toBe(false);
    expect(the('runs').attributes.variables).toEqual([]);
  });
});

describe('what else brings workspaces along', () => {
  it('shows them as they show themselves', async () => {
    const set = resource(
      'varsets',
      { name: 'shared' },
      {
        workspaces: { data: [{ type: 'workspaces', id: whole }] },
        projects: { data: [{ type: 'projects', id: acme.defaultProject }] },
      },
    );
    const created = expectStatus(await server.post('/api/v2/organizations/acme/varsets', set), 201).body.data;
    const shown = [await own(`workspaces/${whole}`), await own(`projects/${acme.defaultProject}`)];
    const ofSet = await server.get(`/api/v2/varsets/${created.id}?include=workspaces,projects`);
    expect(expectStatus(ofSet, 200).body.included).toEqual(shown);
    const ofRun = await server.get(`/api/v2/runs/${run}?include=workspace,created_by`);
    expect(namesOf(expectStatus(ofRun, 200).body.included)).toEqual(
      namesOf([shown[0] as Shown, (await own('account/details')) as Shown]),
    );
    expect(ofRun.body.included).toContainEqual(shown[0]);
    expect(ofRun.body.included).toContainEqual(await own('account/details'));
  });
});

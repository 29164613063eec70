import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { readWholeLog } from '../../../test/support/event-log.js';
import { makePolicy, makePolicySet, newPolicy, newPolicySet } from '../../../test/support/policies.js';
import { listProblems } from '../../../test/support/responses.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  resource,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { policiesDefinition } from './index.js';

const POLICIES = '/api/v2/organizations/acme/policies';
const SETS = '/api/v2/organizations/acme/policy-sets';

let server: TestServer;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  workspace = await makeWorkspace(server, 'acme', 'prod');
});

afterAll(() => server.close());

const byId = (id: string): string => `/api/v2/policies/${id}`;
const setById = (id: string): string => `/api/v2/policy-sets/${id}`;
const showSet = async (id: string) => expectStatus(await server.get(setById(id)), 200).body.data;
const list = (type: string, ...ids: readonly string[]) => ({ data: ids.map((id) => ({ type, id })) });

describe('a policy', () => {
  it('is created, changed and deleted, and its text comes back as it was uploaded', async () => {
    const created = expectStatus(
      await server.post(POLICIES, newPolicy('buckets', { description: 'No public ones' })),
      201,
    );
    const { id, attributes } = created.body.data;
    expect(attributes).toEqual({
      description: 'No public ones',
      enforce: [{ path: 'buckets.rego', mode: 'mandatory' }],
      'enforcement-level': 'mandatory',
      kind: 'opa',
      name: 'buckets',
      'policy-set-count': 0,
      query: 'data.rules.deny',
      'updated-at': null,
    });
    expectStatus(await server.get(`${byId(id)}/download`), 404);
    const text = 'package rules\n\n# Grüße\n';
    expectStatus(await server.put(`${byId(id)}/upload`, Buffer.from(text)), 200);
    expect(expectStatus(await server.get(`${byId(id)}/download`), 200).text).toBe(text);
    const changed = await server.patch(byId(id), resource('policies', { 'enforcement-level': 'advisory' }));
    expect(expectStatus(changed, 200).body.data.attributes).toMatchObject({
      'enforcement-level': 'advisory',
      'updated-at': expect.any(String),
    });
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
  });

  it('has no text in the log', async () => {
    await makePolicy(server, 'acme', 'hidden', {}, 'package hidden # the-text-of-a-policy');
    expect(JSON.stringify(await readWholeLog(server.store))).not.toContain('the-text-of-a-policy');
  });

  it.each([
    [{ kind: 'sentinel' }, 'Kind must be opa: policies of Sentinel need a runtime that only their vendor has'],
    [{ kind: undefined }, "Kind can't be blank"],
    [{ query: ' ' }, 'Query must name a rule, such as data.terraform.deny'],
    [{ query: '--help' }, "Query must not begin with '-'"],
    [{ query: 'data.rules.verböten' }, 'Query must consist of printable ASCII characters'],
    [{ query: 'q'.repeat(256) }, 'Query is too long (at most 255 characters), got 256'],
    [{ 'enforcement-level': 'hard-mandatory' }, 'Enforcement level must be one of advisory, mandatory'],
  ])('is refused with %j', async (attributes, message) => {
    const answer = expectStatus(await server.post(POLICIES, newPolicy('refused', attributes)), 422);
    expect(listProblems(answer).map(([, detail]) => detail)).toEqual([message]);
  });

  it('keeps its name, and shares it with no other policy', async () => {
    const id = await makePolicy(server, 'acme', 'named', {}, null);
    expectStatus(await server.post(POLICIES, newPolicy('NAMED')), 422);
    expectStatus(await server.patch(byId(id), resource('policies', { name: 'named' })), 200);
    expectStatus(await server.patch(byId(id), resource('policies', { name: 'other' })), 422);
  });

  it('accepts only a text in UTF-8 of a limited size', async () => {
    const id = await makePolicy(server, 'acme', 'limited', {}, null);
    const upload = (content: Buffer) => server.put(`${byId(id)}/upload`, content);
    expectStatus(await upload(Buffer.from([0xff, 0xfe])), 422);
    expectStatus(await upload(Buffer.from('package rules # \u001b[2J')), 422);
    expectStatus(await upload(Buffer.alloc(1_048_577, 'x')), 413);
    expectStatus(await upload(Buffer.alloc(0)), 200);
  });
});

describe('the same text again', () => {
  it('changes nothing, and brings back a text that the vault has lost', async () => {
    const text = 'package same';
    const id = await makePolicy(server, 'acme', 'same', {}, text);
    const head = (await readWholeLog(server.store)).length;
    expectStatus(await server.put(`${byId(id)}/upload`, Buffer.from(text)), 200);
    await server.database.rows(sql`delete from vault.secrets where id = ${id}`);
    expectStatus(await server.get(`${byId(id)}/download`), 404);
    expectStatus(await server.put(`${byId(id)}/upload`, Buffer.from(text)), 200);
    expect(expectStatus(await server.get(`${byId(id)}/download`), 200).text).toBe(text);
    expect((await readWholeLog(server.store)).length).toBe(head);
  });
});

describe('a policy set', () => {
  it('has policies, workspaces, projects and exclusions that exist in its organization', async () => {
    const policy = await makePolicy(server, 'acme', 'of-set');
    const id = await makePolicySet(server, 'acme', 'security', {}, { policies: [policy], workspaces: [workspace] });
    expect(await showSet(id)).toMatchObject({
      attributes: {
        name: 'security',
        global: false,
        kind: 'opa',
        overridable: false,
        'policy-count': 1,
        'workspace-count': 1,
        'policy-tool-version': 'latest',
      },
      relationships: { policies: list('policies', policy), workspaces: list('workspaces', workspace) },
    });
    const stranger = await makeWorkspace(server, 'neighbour', 'theirs');
    const relationship = (relation: string): string => `${setById(id)}/relationships/${relation}`;
    expectStatus(await server.post(relationship('workspaces'), list('workspaces', stranger)), 422);
    expectStatus(await server.post(relationship('unknown'), list('workspaces', workspace)), 404);
    expectStatus(await server.post(relationship('workspace-exclusions'), list('workspaces', workspace)), 204);
    expectStatus(await server.delete(relationship('workspaces'), list('workspaces', workspace)), 204);
    expect((await showSet(id)).relationships).toMatchObject({
      workspaces: { data: [] },
      'workspace-exclusions': list('workspaces', workspace),
    });
    expectStatus(await server.delete(byId(policy)), 204);
    expect((await showSet(id)).attributes['policy-count']).toBe(0);
    expectStatus(await server.delete(setById(id)), 204);
    expectStatus(await server.get(setById(id)), 404);
  });

  it('loses its workspaces when it becomes global', async () => {
    const id = await makePolicySet(server, 'acme', 'becomes-global', {}, { workspaces: [workspace] });
    const changed = await server.patch(setById(id), resource('policy-sets', { global: true, overridable: true }));
    expect(expectStatus(changed, 200).body.data.attributes).toMatchObject({ global: true, 'workspace-count': 0 });
    const attach = `${setById(id)}/relationships/workspaces`;
    expectStatus(await server.post(attach, list('workspaces', workspace)), 422);
    expectStatus(await server.delete(attach, list('workspaces', workspace)), 422);
  });

  it('is listed for the workspaces that it belongs to', async () => {
    const excluded = await makeWorkspace(server, 'acme', 'excluded');
    const project = await makeProject(server, 'acme', 'of-sets');
    const inside = await makeWorkspace(
      server,
      'acme',
      'in-project',
      {},
      { project: { data: { type: 'projects', id: project } } },
    );
    const members = { 'workspace-exclusions': [excluded] };
    await makePolicySet(server, 'acme', 'everywhere', { global: true }, members);
    await makePolicySet(server, 'acme', 'of-workspace', {}, { workspaces: [excluded], projects: [project] });
    await makePolicySet(server, 'acme', 'not-here', {}, { projects: [project], 'workspace-exclusions': [inside] });
    const namesOf = async (id: string): Promise<readonly string[]> => {
      const { body } = expectStatus(await server.get(`${SETS}?filter[workspace][id]=${id}`), 200);
      expect(body.meta.pagination['total-count']).toBe(body.data.length);
      return body.data.map(({ attributes }: any) => attributes.name);
    };
    expect(await namesOf(excluded)).toContain('of-workspace');
    expect(await namesOf(excluded)).not.toContain('everywhere');
    expect(await namesOf(inside)).toEqual(expect.arrayContaining(['everywhere', 'of-workspace']));
    expect(await namesOf(inside)).not.toContain('not-here');
    expect(await namesOf(await makeWorkspace(server, 'neighbour', 'foreign'))).toEqual([]);
    expect(await namesOf('ws-unknown')).toEqual([]);
  });

  it('names a version of OPA that the site has', async () => {
    expectStatus(await server.post(SETS, newPolicySet('old', { 'policy-tool-version': '0.1.0' })), 422);
    const id = await makePolicySet(server, 'acme', 'exact', { 'policy-tool-version': '1.19.1' });
    expect((await showSet(id)).attributes['policy-tool-version']).toBe('1.19.1');
    const latest = await server.patch(setById(id), resource('policy-sets', { 'policy-tool-version': 'latest' }));
    expect(expectStatus(latest, 200).body.data.attributes['policy-tool-version']).toBe('latest');
  });

  it('names at most five versions of OPA together with all others', async () => {
    const versions = ['1.18.0', '1.17.0', '1.16.0', '1.15.0', '1.14.0'];
    const ids: string[] = [];
    for (const version of versions)
      ids.push(
        await makePolicySet(server, 'acme', `opa-${version.replaceAll('.', '-')}`, { 'policy-tool-version': version }),
      );
    expectStatus(await server.post(SETS, newPolicySet('sixth', { 'policy-tool-version': '1.19.1' })), 422);
    const [first = ''] = ids;
    const change = (version: string) =>
      server.patch(setById(first), resource('policy-sets', { 'policy-tool-version': version }));
    expectStatus(await change('1.19.1'), 200);
    await makePolicySet(server, 'acme', 'another', { 'policy-tool-version': '1.19.1' });
    expectStatus(await change('1.18.0'), 422);
    for (const id of ids) expectStatus(await server.delete(setById(id)), 204);
  });

  it('is refused with the kind of Sentinel, and with a repository', async () => {
    expectStatus(await server.post(SETS, newPolicySet('sentinel', { kind: 'sentinel' })), 422);
    expectStatus(await server.post(SETS, newPolicySet('versioned', { 'vcs-repo': { identifier: 'a/b' } })), 422);
  });
});

describe('the permission to manage policies', () => {
  it('lets its team read and change policies and sets, and nobody else', async () => {
    const member = await makeMember(server, 'acme', 'mallory');
    expectStatus(await member.get(POLICIES), 404);
    expectStatus(await member.post(POLICIES, newPolicy('forged')), 404);
    const team = await makeTeam(server, 'acme', 'guards', { 'organization-access': { 'manage-policies': true } });
    const manager = await makeMember(server, 'acme', 'petra', [team]);
    expectStatus(await manager.get(POLICIES), 200);
    const policy = await makePolicy(manager, 'acme', 'of-guards');
    await makePolicySet(manager, 'acme', 'of-guards', { global: true }, { policies: [policy] });
    expectStatus(await member.get(byId(policy)), 404);
    expectStatus(await member.get(`${byId(policy)}/download`), 404);
  });
});

it('can be computed from the log again', () => expectViewsMatchLog(server, [policiesDefinition]));

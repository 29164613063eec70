import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { executorRequests } from '../../../../test/support/executors.js';
import { readDatabase, recordLogLines } from '../../../../test/support/leaks.js';
import { getDetail } from '../../../../test/support/responses.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeRun,
  makeToolVersion,
  makeWorkspace,
  reportBody,
  runBody,
  resource,
} from '../../../../test/support/seeds.js';
import type { ApiTestClient, TestServer } from '../../../../test/support/server.js';
import { newStateVersion, pathOf, stateFile } from '../../../../test/support/state-file.js';
import { makeSet, makeVariable, patchVariableBody } from '../../../../test/support/variables.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let logged: readonly string[];

beforeAll(async () => {
  ({ server, agents, pool } = await startRunSite({
    LOG_LEVEL: 'fatal',
    CADASTRE_MAX_RUN_VALUES_MIB_PER_ORGANIZATION: '1',
  }));
  logged = recordLogLines(server);
});

afterAll(() => server.close());

const { aWorkspace, act, differences } = runRequests(() => ({ server, agents }));

const { claim, readJob, jobOf } = executorRequests(() => ({ agents, pool }));

const finishPlan = async (run: string): Promise<void> => {
  const planned = reportBody('planned', { fence: 1, 'has-changes': true });
  expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, planned), 200);
};

/** A run that an executor has claimed for its plan. */
const aClaimedRun = async (workspace: string, attributes: object = {}): Promise<string> => {
  const run = await makeRun(server, workspace, attributes);
  expect((await claim()).id).toBe(run);
  return run;
};

const countReads = async (run: string): Promise<number> => {
  const log = await readWholeLog(server.store);
  return log.filter(({ type, stream }) => type === 'RunJobRead' && stream === run).length;
};
const countStored = async (run: string): Promise<number> =>
  (await server.database.rows<{ run: string }>(sql`select run from runs.job_values where run = ${run}`)).length;

const LINEAGE = '7b1d2c3e-0000-4000-8000-000000000001';
const PRIVATE_KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n';

const valuesOf = (list: readonly { key: string; value: string }[]): Readonly<Record<string, string>> =>
  Object.fromEntries(list.map(({ key, value }) => [key, value]));

describe('the job of a plan', () => {
  it('has everything that the executor needs', async () => {
    const archive = { url: 'https://tools.example.com/terraform.zip', sha: 'a'.repeat(64), os: 'linux', arch: 'arm64' };
    const deprecated = { deprecated: true, 'deprecated-reason': 'It has a known weakness.' };
    await makeToolVersion(server, '1.13.0-acme.1', { archs: [archive], ...deprecated });
    const workspace = await makeWorkspace(server, 'acme', 'complete', {
      'working-directory': 'live',
      'terraform-version': '1.13.0-acme.1',
    });
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const version = await server.post(
      `/api/v2/workspaces/${workspace}/state-versions`,
      newStateVersion(stateFile(), { inline: true }),
    );
    const state = expectStatus(version, 201).body.data.id as string;
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    const key = resource('ssh-keys', { name: 'deploy', value: PRIVATE_KEY });
    const sshKey = expectStatus(await server.post('/api/v2/organizations/acme/ssh-keys', key), 201).body.data.id;
    const assigned = resource('workspaces', { id: sshKey });
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}/relationships/ssh-key`, assigned), 200);
    const configuration = await makeConfigurationVersion(server, workspace);
    const run = await aClaimedRun(workspace, { 'target-addrs': ['null_resource.one'], 'is-destroy': true });
    const response = expectStatus(await readJob(run), 200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-encoding')).toBeNull();
    const { attributes, ...rest } = response.body.data;
    expect(rest).toEqual({ id: run, type: 'run-jobs' });
    const { environment, ...others } = attributes;
    expect(others).toEqual({
      'allow-config-generation': false,
      // Relative, because the request was not sent to the public address.
      'configuration-download-url': expect.stringMatching(/^\/api\/v2\/configuration-versions\/download\//),
      'configuration-version-id': configuration,
      fence: 1,
      'invoke-action-addrs': [],
      'is-destroy': true,
      'organization-name': 'acme',
      phase: 'plan',
      'plan-file-url': null,
      'opa-versions': [],
      policies: [],
      'policy-input': null,
      'policy-texts': {},
      'project-name': 'Default Project',
      'public-url': 'http://localhost:8443',
      refresh: true,
      'refresh-only': false,
      'replace-addrs': [],
      'run-token': expect.any(String),
      'snapshot-interval-seconds': 20,
      'ssh-key': PRIVATE_KEY,
      'state-download-url': `/api/v2/state-versions/${state}/download`,
      'structured-run-output-enabled': true,
      'target-addrs': ['null_resource.one'],
      'iac-tool': 'terraform',
      'terraform-version': '1.13.0-acme.1',
      'terraform-version-archives': [archive],
      'terraform-version-warning': 'Version 1.13.0-acme.1 is deprecated on this site: It has a known weakness.',
      'time-limit-seconds': 7_200,
      variables: [],
      'working-directory': 'live',
      'workspace-id': workspace,
      'workspace-name': 'complete',
    });
    expect(valuesOf(environment)).toMatchObject({
      TFC_RUN_ID: run,
      TFE_RUN_ID: run,
      TFC_WORKSPACE_ID: workspace,
      TFC_WORKSPACE_NAME: 'complete',
      TFC_WORKSPACE_SLUG: 'acme/complete',
      TFC_PROJECT_NAME: 'Default Project',
      TF_VAR_TFC_RUN_ID: run,
    });
    expectStatus(await server.as(null).get(pathOf(attributes['configuration-download-url'])), 200);
    const runs = server.as(attributes['run-token'] as string);
    expectStatus(await runs.get(pathOf(attributes['state-download-url'])), 200);
  });

  it('has one value for each key, of the strongest source', async () => {
    const workspace = await aWorkspace();
    const set = async (name: string, attributes: object, key: string): Promise<void> => {
      const { id } = await makeSet(server, 'acme', name, { global: true, ...attributes });
      await makeVariable(server, `/api/v2/varsets/${id}/relationships/vars`, { key, value: name, sensitive: true });
    };
    const own = (attributes: object) => makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, attributes);
    await set('of-priority-set', { priority: true }, 'a');
    await set('of-set', {}, 'c');
    await set('only-of-set', {}, 'd');
    for (const key of ['a', 'b', 'c']) await own({ key, value: `"workspace"`, hcl: true });
    await own({ key: 'REGION', value: 'eu', category: 'env' });
    await own({ key: 'TOKEN', value: 'of-env', category: 'env', sensitive: true });
    await own({ key: 'TFC_RUN_ID', value: 'forged', category: 'env' });
    const variables = ['a', 'b', 'e'].map((key) => ({ key, value: '"run"' }));
    const run = await aClaimedRun(workspace, { variables });
    const job = await jobOf(run);
    expect([...job.variables].toSorted((one, second) => one.key.localeCompare(second.key))).toEqual([
      { key: 'a', value: 'of-priority-set', hcl: false, sensitive: true },
      { key: 'b', value: '"run"', hcl: true, sensitive: false },
      { key: 'c', value: '"workspace"', hcl: true, sensitive: false },
      { key: 'd', value: 'only-of-set', hcl: false, sensitive: true },
      { key: 'e', value: '"run"', hcl: true, sensitive: false },
    ]);
    expect(job.environment).toEqual(
      expect.arrayContaining([
        { key: 'REGION', value: 'eu', sensitive: false },
        { key: 'TOKEN', value: 'of-env', sensitive: true },
      ]),
    );
    expect(job.environment.filter(({ key }: { key: string }) => key === 'TFC_RUN_ID')).toEqual([
      { key: 'TFC_RUN_ID', value: run, sensitive: false },
    ]);
    for (const { id } of expectStatus(await server.get('/api/v2/organizations/acme/varsets'), 200).body.data) {
      expectStatus(await server.delete(`/api/v2/varsets/${id}`), 204);
    }
  });

  it('is given again for the same nonce, and to nobody else', async () => {
    const workspace = await aWorkspace();
    await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, { key: 'a', value: 'first' });
    const run = await aClaimedRun(workspace);
    const { 'run-token': token, 'configuration-download-url': _url, ...first } = await jobOf(run);
    const count = await countReads(run);
    const { 'run-token': otherToken, 'configuration-download-url': _other, ...second } = await jobOf(run);
    expect(second).toEqual(first);
    expect(otherToken).not.toBe(token);
    expect([count, await countReads(run)]).toEqual([1, 1]);
    const refused = expectStatus(await readJob(run, { nonce: 'nonce-of-another-process' }), 409);
    expect(getDetail(refused)).toBe('Run is planning: its job was read with another nonce');
    expectStatus(await readJob(run, { fence: 2 }), 409);
    const other = await makeAgentPool(server, 'acme', 'other');
    expectStatus(await readJob(run, {}, server.as(await makeAgentToken(server, other))), 404);
    expectStatus(await readJob(run, {}, server), 404);
    expectStatus(await readJob(run, {}, server.as(token as string)), 404);
    for (const attributes of [{ nonce: 'short' }, { nonce: 'x'.repeat(129) }, { fence: 0 }, { fence: '1' }]) {
      expectStatus(await readJob(run, attributes), 422);
    }
    await finishPlan(run);
    expectStatus(await readJob(run), 409);
  });

  it('is refused for a run that nobody has claimed', async () => {
    const run = await makeRun(server, await aWorkspace());
    expectStatus(await readJob(run), 409);
    expectStatus(await readJob('run-nothing'), 404);
    expectStatus(await act(run, 'cancel'), 202);
  });

  it('has the time limit of the site, or that of the organization', async () => {
    const changeLimits = async (type: string, path: string, attributes: object): Promise<void> => {
      expectStatus(await server.patch(`/api/v2/admin/${path}`, resource(type, attributes)), 200);
    };
    const ofSite = (attributes: object) => changeLimits('general-settings', 'general-settings', attributes);
    const ofAcme = (attributes: object) => changeLimits('organizations', 'organizations/acme', attributes);
    const run = await aClaimedRun(await aWorkspace());
    const limitOf = async (fence: number) => (await jobOf(run, { fence }))['time-limit-seconds'];
    try {
      await ofSite({ 'plan-timeout': '90m', 'apply-timeout': '3h' });
      expect(await limitOf(1)).toBe(5_400);
      await ofAcme({ 'terraform-build-worker-plan-timeout': '10m' });
      expect(await limitOf(1)).toBe(600);
      await finishPlan(run);
      expectStatus(await act(run, 'apply'), 202);
      await claim();
      expect(await limitOf(2)).toBe(10_800);
    } finally {
      await ofSite({ 'plan-timeout': '', 'apply-timeout': '' });
      await ofAcme({ 'plan-timeout': null });
    }
    expect(await limitOf(2)).toBe(86_400);
    expectStatus(await act(run, 'cancel'), 202);
  });

  it('has the values of the creation of the run, although somebody changes and deletes variables before the plan starts', async () => {
    const workspace = await aWorkspace();
    const path = `/api/v2/workspaces/${workspace}/vars`;
    const changed = await makeVariable(server, path, { key: 'changed', value: 'at-creation', sensitive: true });
    const deleted = await makeVariable(server, path, { key: 'deleted', value: 'at-creation' });
    const run = await makeRun(server, workspace);
    expectStatus(await server.patch(`${path}/${changed.id}`, patchVariableBody({ value: 'later' })), 200);
    expectStatus(await server.delete(`${path}/${deleted.id}`), 204);
    await makeVariable(server, path, { key: 'new', value: 'later' });
    await claim();
    expect((await jobOf(run)).variables).toEqual([
      { key: 'changed', value: 'at-creation', hcl: false, sensitive: true },
      { key: 'deleted', value: 'at-creation', hcl: false, sensitive: false },
    ]);
  });

  it('has the present values if an earlier release created the run', async () => {
    const workspace = await aWorkspace();
    const path = `/api/v2/workspaces/${workspace}/vars`;
    const { id } = await makeVariable(server, path, { key: 'a', value: 'at-creation' });
    const run = await makeRun(server, workspace, { variables: [{ key: 'b', value: '"run"' }] });
    await server.database.rows(sql`delete from runs.job_values where run = ${run}`);
    expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'at-plan' })), 200);
    await claim();
    const { variables } = await jobOf(run);
    expect(variables).toMatchObject([
      { key: 'b', value: '"run"' },
      { key: 'a', value: 'at-plan' },
    ]);
    expect((await jobOf(run)).variables).toEqual(variables);
  });
});

describe('a workspace with too many bytes of variables', () => {
  it('cannot create a run', async () => {
    const workspace = await aWorkspace();
    await makeConfigurationVersion(server, workspace);
    const large = 'x'.repeat(256 * 1024);
    for (let n = 0; n < 65; n += 1) {
      const variable = { key: `v${n}`, value: large, sensitive: true };
      await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, variable);
    }
    const refused = expectStatus(await server.post('/api/v2/runs', runBody(workspace)), 422);
    expect(getDetail(refused)).toMatch(/bytes in all: a run can use at most 16 MiB$/);
    expect(expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data).toEqual([]);
  });
});

describe('an organization whose runs store as many variables as the quota allows', () => {
  it('cannot create a run until others end, and the error says what to do', async () => {
    const workspace = await aWorkspace();
    await makeConfigurationVersion(server, workspace);
    // Random text, which compression does not shorten below the quota of 1 MiB.
    for (let n = 0; n < 8; n += 1) {
      const value = randomBytes(192 * 1024).toString('base64');
      await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, { key: `v${n}`, value });
    }
    const first = expectStatus(await server.post('/api/v2/runs', runBody(workspace)), 201).body.data.id as string;
    const refused = expectStatus(await server.post('/api/v2/runs', runBody(workspace)), 422);
    expect(getDetail(refused)).toBe(
      'The runs of an organization that have not ended can store at most 1 MiB of variables ' +
        '(CADASTRE_MAX_RUN_VALUES_MIB_PER_ORGANIZATION). Wait until runs end, discard or cancel some, or ask the operator of the site ' +
        'for a higher quota',
    );
    expect(expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data).toHaveLength(1);
    expectStatus(await act(first, 'cancel'), 202);
    const second = expectStatus(await server.post('/api/v2/runs', runBody(workspace)), 201).body.data.id as string;
    expectStatus(await act(second, 'cancel'), 202);
  });
});

describe('the job of an apply', () => {
  it('has the values of the creation of the run, and nothing is kept after the run', async () => {
    const workspace = await aWorkspace();
    const path = `/api/v2/workspaces/${workspace}/vars`;
    const { id } = await makeVariable(server, path, { key: 'a', value: 'at-plan', sensitive: true });
    const run = await aClaimedRun(workspace);
    const { variables } = await jobOf(run);
    await finishPlan(run);
    expectStatus(await server.patch(`${path}/${id}`, patchVariableBody({ value: 'at-apply' })), 200);
    expectStatus(await act(run, 'apply'), 202);
    expect((await claim()).attributes).toMatchObject({ fence: 2, phase: 'apply' });
    expectStatus(await readJob(run), 409);
    const job = await jobOf(run, { fence: 2 });
    expect(job).toMatchObject({ phase: 'apply', 'time-limit-seconds': 86_400, variables });
    expect(variables).toMatchObject([{ value: 'at-plan' }]);
    expect(await countStored(run)).toBe(1);
    const applied = reportBody('applied', { fence: 2 });
    expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, applied), 200);
    expect(await countStored(run)).toBe(0);
    expectStatus(await readJob(run, { fence: 2 }), 409);
  });
});

describe('the token of a job', () => {
  it('adds states while the run is applied, also after a person has asked to cancel it', async () => {
    const workspace = await aWorkspace();
    const run = await aClaimedRun(workspace);
    const path = `/api/v2/workspaces/${workspace}/state-versions`;
    const add = (token: unknown, serial: number) =>
      server.as(token as string).post(path, newStateVersion(stateFile({ serial, lineage: LINEAGE }), { inline: true }));
    const { 'run-token': ofPlan } = await jobOf(run);
    expectStatus(await add(ofPlan, 1), 404);
    await finishPlan(run);
    expectStatus(await act(run, 'apply'), 202);
    await claim();
    const { 'run-token': token, 'snapshot-interval-seconds': interval } = await jobOf(run, { fence: 2 });
    for (const serial of [1, 2]) {
      const { headers, body } = expectStatus(await add(token, serial), 201);
      expect(headers.get('x-terraform-snapshot-interval')).toBe(String(interval));
      expect(body.data.attributes).toMatchObject({ serial, intermediate: true, status: 'finalized' });
    }
    expectStatus(await act(run, 'cancel'), 202);
    expectStatus(await add(token, 3), 201);
    const canceled = reportBody('canceled', { fence: 2 });
    expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, canceled), 200);
    expectStatus(await add(token, 4), 401);
    const current = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/current-state-version`), 200);
    expect(current.body.data.attributes).toMatchObject({ serial: 3, intermediate: false });
    expect(current.headers.get('x-terraform-snapshot-interval')).toBeNull();
  });
});

describe('the secrets of a job', () => {
  it('are in no table, no event and no log line', async () => {
    const workspace = await aWorkspace();
    const values = ['leak-of-a-variable', 'leak-of-the-environment', '"leak-of-the-run"'];
    const vars = `/api/v2/workspaces/${workspace}/vars`;
    await makeVariable(server, vars, { key: 'a', value: values[0], sensitive: true });
    await makeVariable(server, vars, { key: 'B', value: values[1], sensitive: true, category: 'env' });
    const run = await aClaimedRun(workspace, { variables: [{ key: 'c', value: values[2] }] });
    const text = JSON.stringify(await jobOf(run, { nonce: 'leak-of-the-nonce' }));
    for (const value of ['leak-of-a-variable', 'leak-of-the-environment', 'leak-of-the-run'])
      expect(text).toContain(value);
    expectStatus(await readJob(run, { nonce: 'leak-of-another-nonce' }), 409);
    await server.database.rows(sql`alter table runs.job_values rename to away`);
    expectStatus(await readJob(run, { nonce: 'leak-of-the-nonce' }), 500);
    await server.database.rows(sql`alter table runs.away rename to job_values`);
    const leak = /leak-of/;
    expect((await readDatabase(server)).filter((row) => leak.test(row.text))).toEqual([]);
    expect(JSON.stringify(await readWholeLog(server.store))).not.toMatch(leak);
    expect(logged.join('\n')).toContain('runs.job_values');
    expect(logged.join('\n')).not.toMatch(leak);
  });
});

it('the views of runs with jobs match the log', async () => {
  expect(await differences()).toEqual([]);
});

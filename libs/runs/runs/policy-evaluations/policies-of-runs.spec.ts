import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { policiesDefinition } from '#runs/policies';
import { readWholeLog, waitForFollowers } from '../../../../test/support/event-log.js';
import { readTrail } from '../../../activity/audit-trail/spec.js';
import { executorRequests } from '../../../../test/support/executors.js';
import { denyResource, makePolicy, makePolicySet } from '../../../../test/support/policies.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeConfigurationVersion,
  makeMember,
  makeOrganizationToken,
  makeRun,
  makeRunTrigger,
  makeTeam,
  makeToken,
  reportBody,
} from '../../../../test/support/seeds.js';
import type { ApiTestClient, TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { runsDefinition } from '../index.js';
import { changeForJob } from '../runs/change-run.operation.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let overrider: ApiTestClient;

beforeAll(async () => {
  ({ server, agents, pool } = await startRunSite());
  const access = { 'manage-policy-overrides': true, 'read-workspaces': true };
  const team = await makeTeam(server, 'acme', 'security', { 'organization-access': access });
  overrider = await makeMember(server, 'acme', 'olivia', [team]);
});

afterAll(() => server.close());

const { aWorkspace, act, queueCaughtUp, reported, statusOf } = runRequests(() => ({ server, agents }));
const { claim, jobOf } = executorRequests(() => ({ agents, pool }));

let count = 0;

type Enforced = {
  readonly level?: 'advisory' | 'mandatory';
  readonly set?: object;
  readonly run?: object;
  readonly workspace?: string;
};

/** Creates a run of a workspace with a policy. An executor has claimed its plan and read its job. */
const aClaimedRun = async ({ level = 'mandatory', set = {}, run = {}, workspace }: Enforced = {}) => {
  const owner = workspace ?? (await aWorkspace());
  const name = `rule-${(count += 1)}`;
  const policy = await makePolicy(server, 'acme', name, { 'enforcement-level': level });
  const policySet = await makePolicySet(server, 'acme', name, set, { policies: [policy], workspaces: [owner] });
  const id = await makeRun(server, owner, run);
  expect((await claim()).id).toBe(id);
  return { id, name, policy, policySet, workspace: owner, job: await jobOf(id) };
};

const finish = (id: string, results?: readonly object[]) =>
  agents.post(
    `/api/v2/runs/${id}/progress`,
    reportBody('planned', { fence: 1, 'has-changes': true, ...(results ? { 'policy-results': results } : {}) }),
  );

const resultOf = (policy: string, status: string, more: object = {}) => ({
  policy,
  'tool-version': '1.19.1',
  status,
  message: '["not allowed"]',
  printed: 'checked',
  ...more,
});

const stageOf = async (run: string, api: ApiTestClient = server) =>
  expectStatus(await api.get(`/api/v2/runs/${run}/task-stages?include=policy_evaluations`), 200).body;

/** Returns whether the CLI of the caller offers the override; the page of the run must have the same. */
const canOverride = async (run: string, api: ApiTestClient): Promise<boolean> => {
  const [stage] = (await stageOf(run, api)).data;
  const included = expectStatus(await api.get(`/api/v2/runs/${run}?include=task_stages`), 200).body.included;
  expect(included).toContainEqual(expect.objectContaining({ attributes: stage.attributes }));
  return stage.attributes.permissions['can-override'];
};

const override = (stage: string, api: ApiTestClient, comment = 'agreed') =>
  api.post(`/api/v2/task-stages/${stage}/actions/override`, { comment });

describe('the job of a plan', () => {
  it('has the policies of the workspace with their texts, the version of OPA, and what they read about the run', async () => {
    const { job, policy, name, id } = await aClaimedRun();
    const text = denyResource('forbidden');
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(job.policies).toEqual([
      { id: policy, name, query: 'data.rules.deny', 'text-sha256': sha256, 'opa-version': '1.19.1' },
    ]);
    expect(job['policy-texts']).toEqual({ [sha256]: text });
    expect(job['opa-versions']).toEqual([
      {
        version: '1.19.1',
        archives: expect.arrayContaining([expect.objectContaining({ os: 'linux', arch: 'amd64' })]),
        'is-site-release': false,
      },
    ]);
    expect(job['policy-input']).toMatchObject({
      id,
      speculative: false,
      organization: { name: 'acme' },
      workspace: { execution_mode: 'remote', tags: [], vcs_repo: null },
    });
    expectStatus(await finish(id, [resultOf(policy, 'passed')]), 200);
    await act(id, 'discard');
  });

  it('has no policies of sets that exclude the workspace or belong to others', async () => {
    const workspace = await aWorkspace();
    const policy = await makePolicy(server, 'acme', 'excluded');
    const members = { policies: [policy], 'workspace-exclusions': [workspace] };
    const set = await makePolicySet(server, 'acme', 'excluded', { global: true }, members);
    const id = await makeRun(server, workspace);
    await claim();
    expect(await jobOf(id)).toMatchObject({ policies: [], 'policy-input': null });
    expectStatus(await finish(id), 200);
    expect(await statusOf(id)).toBe('planned');
    expect((await stageOf(id)).data).toEqual([]);
    await act(id, 'discard');
    expectStatus(await server.delete(`/api/v2/policy-sets/${set}`), 204);
  });
});

describe('the job of a plan that its executor reads again', () => {
  it('has the policies of the first time, and no text that was replaced meanwhile', async () => {
    const { id, policy, policySet, job } = await aClaimedRun();
    expect(await jobOf(id)).toMatchObject({ policies: job.policies, 'policy-texts': job['policy-texts'] });
    expectStatus(await server.put(`/api/v2/policies/${policy}/upload`, Buffer.from('package rules')), 200);
    expect(await jobOf(id)).toMatchObject({ policies: job.policies, 'policy-texts': {} });
    expectStatus(await server.delete(`/api/v2/policy-sets/${policySet}`), 204);
    expect(await jobOf(id)).toMatchObject({ policies: job.policies, 'policy-texts': {} });
    expectStatus(await finish(id, [resultOf(policy, 'failed')]), 200);
    expect(await statusOf(id)).toBe('errored');
  });

  it('has no text that the vault has lost', async () => {
    const { id, policy, job } = await aClaimedRun({ level: 'advisory' });
    await server.database.rows(sql`delete from vault.secrets where id = ${policy}`);
    expect(await jobOf(id)).toMatchObject({ policies: job.policies, 'policy-texts': {} });
    expectStatus(await finish(id, [resultOf(policy, 'errored')]), 200);
    await act(id, 'discard');
  });
});

describe('the outputs of policies', () => {
  const listOutputs = async (run: string, api: ApiTestClient) => {
    const [evaluation] = (await stageOf(run, api)).included;
    const path = `/api/v2/policy-evaluations/${evaluation.id}/policy-set-outcomes`;
    const [set] = expectStatus(await api.get(path), 200).body.data;
    return set.attributes.outcomes.flatMap(({ output }: { output: readonly object[] }) => output) as readonly object[];
  };

  it('are in no event, and are shown only to people who can read the JSON of plans or override policies', async () => {
    const { id, policy, workspace } = await aClaimedRun({ level: 'advisory' });
    const report = resultOf(policy, 'failed', { message: 'said-by-a-policy', printed: 'printed-by-a-policy' });
    expectStatus(await finish(id, [report]), 200);
    const log = JSON.stringify(await readWholeLog(server.store));
    for (const text of ['said-by-a-policy', 'printed-by-a-policy']) expect(log).not.toContain(text);
    const outputs = [{ print: 'said-by-a-policy' }, { print: 'printed-by-a-policy' }];
    expect(await listOutputs(id, server)).toEqual(outputs);
    expect(await listOutputs(id, overrider)).toEqual(outputs);
    for (const [access, expected] of [
      ['read', []],
      ['plan', []],
      ['write', []],
      ['admin', outputs],
    ] as const) {
      const team = await makeTeam(server, 'acme', `${access}-${id}`);
      await grantWorkspaceAccess(server, team, workspace, access);
      const member = await makeMember(server, 'acme', `${access}er-${(count += 1)}`, [team]);
      expect(await listOutputs(id, member)).toEqual(expected);
    }
    await act(id, 'discard');
  });

  it('are deleted with the logs of the run', async () => {
    const { id, policy } = await aClaimedRun({ level: 'advisory' });
    expectStatus(await finish(id, [resultOf(policy, 'failed')]), 200);
    await act(id, 'discard');
    const context = createSystemContext('data retention', 'test');
    await changeForJob(server.store, id, { type: 'DeleteRunData', data: {} }, context);
    expect(await listOutputs(id, server)).toEqual([]);
    const [evaluation] = (await stageOf(id)).included;
    expect(await server.database.rows(sql`select id from vault.secrets where id = ${evaluation.id}`)).toEqual([]);
  });

  it('fit into a report of 300 results with the longest texts of an executor', async () => {
    const { id, policy } = await aClaimedRun({ level: 'advisory' });
    const texts = { message: 'é'.repeat(160), printed: '' };
    const many = Array.from({ length: 299 }, (_, n) => resultOf(`pol-${'x'.repeat(15)}${n}`, 'failed', texts));
    expectStatus(await finish(id, [...many, resultOf(policy, 'failed')]), 200);
    expect(await listOutputs(id, server)).toEqual([{ print: '["not allowed"]' }, { print: 'checked' }]);
    await act(id, 'discard');
  });
});

describe('the override of a failure', () => {
  const aFailedRun = async (createRun: (workspace: string) => Promise<string>) => {
    const workspace = await aWorkspace();
    const name = `overridden-${(count += 1)}`;
    const policy = await makePolicy(server, 'acme', name);
    await makePolicySet(server, 'acme', name, { overridable: true }, { policies: [policy], workspaces: [workspace] });
    const id = await createRun(workspace);
    expect((await claim()).id).toBe(id);
    await jobOf(id);
    expectStatus(await finish(id, [resultOf(policy, 'failed')]), 200);
    const { data } = await stageOf(id);
    return { id, stage: data[0].id as string };
  };

  it('is refused to tokens of teams, and to members of the team that has queued the run', async () => {
    const access = { 'manage-policy-overrides': true, 'manage-workspaces': true };
    const team = await makeTeam(server, 'acme', 'builders', { 'organization-access': access });
    const member = await makeMember(server, 'acme', 'tessa', [team]);
    const token = server.as(await makeToken(server, `/api/v2/teams/${team}/authentication-token`));
    const { id, stage } = await aFailedRun((workspace) => makeRun(token, workspace));
    for (const api of [token, member]) {
      expect(await canOverride(id, api)).toBe(false);
      expectStatus(await override(stage, api), 403);
    }
    expect(await canOverride(id, overrider)).toBe(true);
    expectStatus(await override(stage, overrider), 200);
    await act(id, 'discard');
  });

  it('is refused to the person who has uploaded the configuration', async () => {
    const access = { 'manage-policy-overrides': true, 'manage-workspaces': true };
    const team = await makeTeam(server, 'acme', 'authors', { 'organization-access': access });
    const author = await makeMember(server, 'acme', 'arthur', [team]);
    const { id, stage } = await aFailedRun(async (workspace) => {
      await makeConfigurationVersion(author, workspace);
      return makeRun(server, workspace);
    });
    expect(await canOverride(id, author)).toBe(false);
    expectStatus(await override(stage, author), 403);
    expectStatus(await override(stage, overrider), 200);
    await act(id, 'discard');
  });

  it('is refused to the person whose run has triggered the run', async () => {
    const access = { 'manage-policy-overrides': true, 'manage-workspaces': true };
    const team = await makeTeam(server, 'acme', 'trigger-people', { 'organization-access': access });
    const person = await makeMember(server, 'acme', 'trudy', [team]);
    const source = await aWorkspace();
    const { id, stage } = await aFailedRun(async (workspace) => {
      await makeRunTrigger(server, workspace, source);
      const cause = await makeRun(person, source, { 'auto-apply': true });
      await reported(cause, 'planning', 'planned', 'applying', 'applied');
      await waitForFollowers(server.store, 'triggered_runs');
      await queueCaughtUp();
      const { data } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
      return data[0].id as string;
    });
    expect(await canOverride(id, person)).toBe(false);
    expectStatus(await override(stage, person), 403);
    expectStatus(await override(stage, overrider), 200);
    await act(id, 'discard');
  });
});

describe('the override of a run whose first trigger is unknown', () => {
  it('is refused to everybody', async () => {
    const { id, policy } = await aClaimedRun({ set: { overridable: true } });
    expectStatus(await finish(id, [resultOf(policy, 'failed')]), 200);
    const [stage] = (await stageOf(id)).data;
    const replaceCause = (cause: object | null) =>
      server.database.rows(
        sql`update views.runs set options = options || ${sql.json({ triggeredBy: cause })}::jsonb where id = ${id}`,
      );
    await replaceCause({ workspace: 'ws-deleted', run: 'run-deleted' });
    expect(await canOverride(id, overrider)).toBe(false);
    const refused = expectStatus(await override(stage.id, overrider), 403);
    expect(refused.body.errors[0].detail).toContain('cannot find the first run');
    await replaceCause(null);
    expectStatus(await override(stage.id, overrider), 200);
    await act(id, 'discard');
  });
});

describe('a run with policies', () => {
  it('has the stage from its creation, because the CLI reads the stages once', async () => {
    const { id } = await aClaimedRun({ level: 'advisory' });
    const { data } = await stageOf(id);
    expect(data).toMatchObject([{ attributes: { stage: 'post_plan', status: 'pending' } }]);
    expectStatus(await finish(id), 200);
    await act(id, 'discard');
  });

  it('waits for the override of a mandatory failure by another person, and shows the outcomes', async () => {
    const { id, policy, name } = await aClaimedRun({ set: { overridable: true, description: 'Rules' } });
    expectStatus(await finish(id, [resultOf(policy, 'failed')]), 200);
    expect(await statusOf(id)).toBe('post_plan_awaiting_decision');
    const { data, included } = await stageOf(id, overrider);
    const [stage] = data;
    expect(stage).toMatchObject({
      attributes: {
        stage: 'post_plan',
        status: 'awaiting_override',
        actions: { 'is-overridable': true },
        permissions: { 'can-override': true, 'can-override-policy': true, 'can-override-tasks': false },
      },
    });
    const counts = { 'advisory-failed': 0, 'mandatory-failed': 1, passed: 0, errored: 0 };
    expect(included).toMatchObject([
      { type: 'policy-evaluations', attributes: { status: 'failed', 'policy-kind': 'opa', 'result-count': counts } },
    ]);
    const path = `/api/v2/policy-evaluations/${included[0].id}/policy-set-outcomes`;
    const outcomes = expectStatus(await server.get(path), 200).body.data;
    expect(outcomes).toMatchObject([
      {
        type: 'policy-set-outcomes',
        attributes: {
          'policy-set-name': name,
          'policy-set-description': 'Rules',
          overridable: true,
          result_count: counts,
          outcomes: [
            {
              policy_name: name,
              enforcement_level: 'mandatory',
              query: 'data.rules.deny',
              status: 'failed',
              output: [{ print: '["not allowed"]' }, { print: 'checked' }],
            },
          ],
        },
      },
    ]);
    const filtered = (filter: string) => server.get(`${path}?${filter}`);
    expect(expectStatus(await filtered('filter[0][status]=passed'), 200).body.data).toEqual([]);
    expect(expectStatus(await filtered('filter[0][enforcementLevel]=mandatory'), 200).body.data).toHaveLength(1);
    expectStatus(await filtered('filter[0][status]=unknown'), 400);
    expectStatus(await override(stage.id, server), 403);
    expectStatus(await override(stage.id, await makeMember(server, 'acme', `nobody-${count}`)), 404);
    const done = expectStatus(await override(stage.id, overrider), 200).body.data;
    expect(done.attributes).toMatchObject({ status: 'passed', actions: { 'is-overridable': false } });
    expect(await statusOf(id)).toBe('post_plan_completed');
    expectStatus(await override(stage.id, overrider), 409);
    const evaluation = expectStatus(await server.get(`/api/v2/policy-evaluations/${included[0].id}`), 200);
    expect(evaluation.body.data.attributes.status).toBe('overridden');
    expectStatus(await act(id, 'apply'), 202);
    await reported(id, 'applying', 'applied');
    const auditor = server.as(await makeOrganizationToken(server, 'acme'));
    const trail = await readTrail(auditor, { 'filter[resource-type]': 'policy_evaluation,task_stage' });
    expect(trail.data.map(({ resource }) => `${resource.type} ${resource.action}`)).toEqual(
      expect.arrayContaining(['policy_evaluation failed', 'task_stage override']),
    );
  });

  it('ends if a mandatory policy fails in a set that nobody can override', async () => {
    const { id, policy, name } = await aClaimedRun();
    expectStatus(await finish(id, [resultOf(policy, 'failed')]), 200);
    expect(await statusOf(id)).toBe('errored');
    const events = expectStatus(await server.get(`/api/v2/runs/${id}/run-events`), 200).body.data;
    expect(JSON.stringify(events)).toContain(`The mandatory policy ${name} of the policy set ${name} failed`);
  });

  it('ends if its executor reports no result of a mandatory policy', async () => {
    const { id } = await aClaimedRun();
    expectStatus(await finish(id), 200);
    expect(await statusOf(id)).toBe('errored');
  });

  it('ends if a mandatory policy came before an executor that claims no phases has planned', async () => {
    const workspace = await aWorkspace();
    const policy = await makePolicy(server, 'acme', 'late');
    const id = await makeRun(server, workspace);
    await reported(id, 'planning');
    await makePolicySet(server, 'acme', 'late', {}, { policies: [policy], workspaces: [workspace] });
    await reported(id, 'planned');
    expect(await statusOf(id)).toBe('errored');
  });

  it('continues if only an advisory policy fails or errs', async () => {
    for (const status of ['failed', 'errored']) {
      const { id, policy } = await aClaimedRun({ level: 'advisory' });
      expectStatus(await finish(id, [resultOf(policy, status)]), 200);
      expect(await statusOf(id)).toBe('post_plan_completed');
      await act(id, 'discard');
    }
  });

  it('shows a pending evaluation as unreachable if the plan fails', async () => {
    const { id } = await aClaimedRun();
    expect((await stageOf(id)).included).toMatchObject([{ attributes: { status: 'pending' } }]);
    expectStatus(await agents.post(`/api/v2/runs/${id}/progress`, reportBody('errored', { fence: 1 })), 200);
    const { data, included } = await stageOf(id);
    expect([data[0].attributes.status, included[0].attributes.status]).toEqual(['unreachable', 'unreachable']);
  });

  it('refuses results that are too long', async () => {
    const { id, policy } = await aClaimedRun();
    expectStatus(await finish(id, [resultOf(policy, 'passed', { message: 'x'.repeat(1_001) })]), 422);
    expectStatus(await finish(id, [resultOf(policy, 'passed')]), 200);
    await act(id, 'discard');
  });
});

it('has views that match the log', () => expectViewsMatchLog(server, [runsDefinition, policiesDefinition]));

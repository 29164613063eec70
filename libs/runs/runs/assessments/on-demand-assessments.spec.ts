import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { assessmentRequests, setViewVersion } from '../../../../test/support/assessments.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer } from '../../../../test/support/server.js';

let site: Awaited<ReturnType<typeof startRunSite>>;
beforeAll(async () => {
  site = await startRunSite();
  await setViewVersion(site.server, 1);
});
afterAll(() => site.server.close());

const runs = runRequests(() => site);
const { anAppliedWorkspace, storeResources, assessmentsOf } = assessmentRequests(() => site, runs);
const { act, aWorkspace, report, reported, statusOf } = runs;

const assess = (workspace: string, api = site.server) => api.post(`/api/v2/workspaces/${workspace}/actions/assess`);
const change = async (workspace: string, attributes: object): Promise<void> =>
  void expectStatus(
    await site.server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', attributes)),
    200,
  );
const refusal = async (workspace: string): Promise<string> =>
  expectStatus(await assess(workspace), 409).body.errors[0].detail;

describe('POST /workspaces/:id/actions/assess', () => {
  it('creates the run of an assessment by the caller, which executors plan, and records its result', async () => {
    const id = await anAppliedWorkspace();
    const { data } = expectStatus(await assess(id), 201).body;
    expect(data).toMatchObject({
      type: 'runs',
      attributes: { source: 'assessment', status: 'plan_queued', 'plan-only': true, 'refresh-only': true },
      relationships: { 'created-by': { data: { type: 'users' } }, workspace: { data: { id } } },
    });
    await reported(data.id, 'planning');
    expectStatus(await report(data.id, 'planned', { 'resources-drifted': 1, 'resources-undrifted': 2 }), 200);
    expect(await statusOf(data.id)).toBe('planned_and_finished');
    expectStatus(await assess(id), 201);
    expect(await assessmentsOf(id)).toHaveLength(2);
  });

  it('creates one assessment if several people want it at once', async () => {
    const id = await anAppliedWorkspace();
    const answers = await Promise.all([assess(id), assess(id), assess(id)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const [open] = await assessmentsOf(id);
    expect(await refusal(id)).toBe(`Workspace is being assessed already: ${open.id}`);
    expectStatus(await act(open.id, 'cancel'), 202);
    expectStatus(await assess(id), 201);
  });

  it('says why a workspace cannot be assessed', async () => {
    const id = await anAppliedWorkspace();
    await change(id, { 'assessments-enabled': false });
    expect(await refusal(id)).toMatch(/^Assessments are off/);
    await change(id, { 'assessments-enabled': true, 'execution-mode': 'local' });
    expect(await refusal(id)).toMatch(/^Execution mode is local/);
    await change(id, { 'execution-mode': 'remote' });
    expectStatus(await site.server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    expect(await refusal(id)).toMatch(/^Workspace is locked/);
    expectStatus(await site.server.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);
    await change(id, { 'terraform-version': '0.15.3' });
    expect(await refusal(id)).toMatch(/^Terraform version is too old/);
    await change(id, { 'terraform-version': '~> 0.14.0' });
    expect(await refusal(id)).toMatch(/older than 0\.15\.4/);
    await change(id, { 'terraform-version': '1.9.0' });
    const run = await makeRun(site.server, id);
    await reported(run, 'planning', 'planned');
    expect(await refusal(id)).toMatch(/^Workspace has a run that has not ended/);
    expectStatus(await act(run, 'discard'), 202);
    expect(await refusal(id)).toMatch(/^Latest run failed/);
    await storeResources(id, 0);
    expect(await refusal(id)).toMatch(/^State has no resources/);
    const never = await aWorkspace({ 'assessments-enabled': true });
    await storeResources(never, 1);
    expect(await refusal(never)).toMatch(/^No run has been applied/);
    expect([await assessmentsOf(id), await assessmentsOf(never)]).toEqual([[], []]);
  });

  it('says that the operator has switched assessments off', async () => {
    const server = await startTestServer({ env: { CADASTRE_ASSESSMENT_HOURS: 'off' } });
    await makeOrganization(server, 'acme');
    const { status, body } = await assess(await makeWorkspace(server, 'acme', 'one'), server);
    expect([status, body.errors[0].detail]).toEqual([409, expect.stringContaining('its operator')]);
    await server.close();
  });

  it('is claimable at a site that has assessed nothing yet, and is refused while the site is upgraded', async () => {
    const id = await anAppliedWorkspace();
    await site.server.database.rows(sql`delete from runs.assessments_begun`);
    const run = expectStatus(await assess(id), 201).body.data.id as string;
    const rows = await site.server.database.rows(sql`
      select 1 from runs r join runs.assessments_begun b on r.created_at >= b.begun_at where r.id = ${run}`);
    expect(rows).toHaveLength(1);
    expectStatus(await act(run, 'cancel'), 202);
    await setViewVersion(site.server, 0);
    expect(await refusal(id)).toMatch(/^The site is being upgraded/);
    await setViewVersion(site.server, 1);
    expectStatus(await assess(id), 201);
  });

  it('has an entry in the audit trail', async () => {
    const id = await anAppliedWorkspace();
    const run = expectStatus(await assess(id), 201).body.data.id as string;
    await runs.queueCaughtUp();
    const token = await makeOrganizationToken(site.server, 'acme');
    const { body } = await site.server.as(token).get('/api/v2/organization/audit-trail?page[size]=1000');
    const entries = body.data.filter(({ resource: { id: about } }: any) => about === run);
    expect(entries.map(({ resource: { action } }: any) => action)).toEqual(['create']);
  });
});

describe('GET /organizations/:organization/assessment-results', () => {
  it('lists the newest results of the workspaces that the caller may read, the longest drift first', async () => {
    const record = async (workspace: string, drifted: number): Promise<string> => {
      const run = expectStatus(await assess(workspace), 201).body.data.id as string;
      await reported(run, 'planning');
      const counts = { 'resources-drifted': drifted, 'resources-undrifted': 1 };
      expectStatus(await report(run, 'planned', counts), 200);
      await waitForFollowers(site.server.store, 'assessments');
      return run.replace('run-', 'asmtres-');
    };
    const [clean, early, late, hidden] = [
      await anAppliedWorkspace(),
      await anAppliedWorkspace(),
      await anAppliedWorkspace(),
      await anAppliedWorkspace(),
    ];
    const team = await makeTeam(site.server, 'acme', 'watchers');
    for (const id of [clean, early, late]) await grantWorkspaceAccess(site.server, team, id, 'read');
    const watcher = await makeMember(site.server, 'acme', 'wanda', [team]);
    const list = async () => {
      const { body } = expectStatus(await watcher.get('/api/v2/organizations/acme/assessment-results'), 200);
      expect(body.meta.pagination['total-count']).toBe(body.data.length);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await list()).toEqual([]);
    await record(hidden, 9);
    const first = await record(early, 1);
    const newer = [await record(late, 2), await record(clean, 0), await record(early, 3)];
    expect(await list()).toEqual([newer[2], newer[0], newer[1]]);
    expect(first).not.toBe(newer[2]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import type { TickingClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startRunSite, runRequests } from '../../../../test/support/runs.js';
import { expectStatus, makeAgentPool, makeAgentToken, makeRun, resource } from '../../../../test/support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let run: string;
let workspace: string;
let clock: TickingClock;

const { aWorkspace } = runRequests(() => ({ server, agents }));

const issue = (attributes: object = {}, api: ApiTestClient = agents): Promise<ApiResponse> =>
  api.post(
    `/api/v2/runs/${run}/identity-tokens`,
    resource('run-identity-tokens', { fence: 1, audience: 'aws.workload.identity', ...attributes }),
  );

beforeAll(async () => {
  ({ server, agents, pool, clock } = await startRunSite());
  workspace = await aWorkspace();
  run = await makeRun(server, workspace);
  const agent = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id;
  expectStatus(await agents.post(`/api/v2/agents/${agent}/actions/claim`), 200);
});

afterAll(() => server.close());

describe('an identity token of a run', () => {
  it('says which workspace, run and phase it is of, in the claims of the vendor', async () => {
    const { attributes } = expectStatus(await issue(), 201).body.data;
    const keys = expectStatus(await server.get('/.well-known/jwks'), 200).body as JSONWebKeySet;
    const { payload } = await jwtVerify(attributes.token as string, createLocalJWKSet(keys), {
      audience: 'aws.workload.identity',
      issuer: server.runtime.settings.publicUrl,
      currentDate: clock.now(),
    });
    const { name } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes;
    const full = `organization:acme:project:Default Project:workspace:${name}`;
    expect(payload).toMatchObject({
      sub: `${full}:run_phase:plan`,
      terraform_full_workspace: full,
      terraform_organization_id: expect.stringMatching(/^org-/),
      terraform_project_id: expect.stringMatching(/^prj-/),
      terraform_run_id: run,
      terraform_run_phase: 'plan',
      terraform_workspace_id: workspace,
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(7_200);
    const events = (await readWholeLog(server.store)).filter(({ type }) => type === 'RunIdentityTokenIssued');
    expect(events.map(({ data }) => data)).toEqual([{ phase: 'plan', audience: 'aws.workload.identity' }]);
  });

  it('needs the fence of the claim, a token of its pool, and an audience', async () => {
    expectStatus(await issue({ fence: 2 }), 409);
    expectStatus(await issue({}, server), 404);
    const other = await makeAgentPool(server, 'acme', 'others');
    expectStatus(await issue({}, server.as(await makeAgentToken(server, other))), 404);
    expectStatus(await issue({ audience: '' }), 422);
    expectStatus(await issue({ audience: 'x'.repeat(1_001) }), 422);
  });
});

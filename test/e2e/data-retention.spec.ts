import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSystemContext } from '#api/access';
import { sql } from '#platform/kernel';
import { openProjector } from '../../apps/projector/src/projector.js';
import { createScheduledJobs } from '../../apps/modules.js';
import { AdjustableClock } from '../support/clocks.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { waitUntil } from '../support/product.js';

const POLICY = 'relationships/data-retention-policy';
const monthly = resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 30 });

describe('the projector', () => {
  const clock = new AdjustableClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ clock });
  });
  afterAll(() => server.close());

  it('deletes data that a policy makes due before its start, and stops on demand', async () => {
    await makeOrganization(server, 'acme');
    const workspace = await makeWorkspace(server, 'acme', 'one');
    expectStatus(await server.post(`/api/v2/organizations/acme/${POLICY}`, monthly), 200);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const first = stateFile({ serial: 1 });
    for (const state of [first, stateFile({ serial: 2, lineage: first.lineage })]) {
      const body = newStateVersion(state, { inline: true });
      expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201);
    }
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    const finalizedStates = async (): Promise<readonly unknown[]> =>
      server.database.rows(sql`select serial from state_versions where status = 'finalized' order by serial`);
    clock.pass({ days: 31 });
    const projector = openProjector(server.runtime);
    await waitUntil(async () => (await finalizedStates()).length === 1, 'the job deletes the older state');
    await projector.stop();
    expect(await finalizedStates()).toEqual([{ serial: 2 }]);
  });
});

describe('the hosted edition', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ followers: true, env: { CADASTRE_EDITION: 'hosted' } });
  });
  afterAll(() => server.close());

  it('has no data retention: no routes, no policies in documents, and no scheduled job', async () => {
    const { id: organization } = await makeOrganization(server, 'acme');
    const workspace = await makeWorkspace(server, 'acme', 'one');
    // Policies that remain from another edition.
    for (const [type, id] of Object.entries({ organizations: organization, workspaces: workspace })) {
      const data = { target: { type, id }, organizationName: 'acme', deleteOlderThanDays: 30 };
      const events = [{ type: 'DataRetentionPolicySet', data }];
      const stream = server.runtime.ids.next('drp');
      await server.store.append([{ stream, organization, expected: 0, events }], createSystemContext('a test', ''));
    }
    for (const owner of ['/api/v2/organizations/acme', `/api/v2/workspaces/${workspace}`]) {
      const { relationships } = expectStatus(await server.get(owner), 200).body.data;
      expect(relationships['data-retention-policy']).toEqual({ data: null });
      expectStatus(await server.get(`${owner}/${POLICY}`), 404);
      for (const write of ['post', 'patch'] as const)
        expectStatus(await server[write](`${owner}/${POLICY}`, monthly), 404);
      expectStatus(await server.delete(`${owner}/${POLICY}`), 404);
    }
    const { data: history } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/history`), 200).body;
    expect(history.map(({ attributes: { event } }: any) => event)).toEqual([
      'DataRetentionPolicySet',
      'WorkspaceCreated',
    ]);
    expect(JSON.stringify(history)).not.toContain('data-retention-policy');
    const listed = expectStatus(
      await server.get('/api/v2/organizations/acme/workspaces?include=organization'),
      200,
    ).body;
    for (const { relationships } of [...listed.data, ...listed.included]) {
      expect(relationships['data-retention-policy']).toEqual({ data: null });
    }
    const names = createScheduledJobs(server.runtime, server.runtime.settings).map(({ name }) => name);
    expect(names).not.toContain('data_retention');
  });
});

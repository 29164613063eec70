import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { waitUntil } from '../../../../test/support/product.js';
import { expectStatus, makeMember, makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createJobRecorder } from '../records/job-runs.queries.js';
import { readLogEnd, recordVerification } from '../records/verifications.queries.js';

const PATH = '/api/v2/admin/site-status';
const HOUR_SECONDS = 3_600;

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
});
afterAll(() => server.close());

const isRunningTrail = ({ name, running }: any): boolean => name === 'audit_trail' && running;

describe('GET /admin/site-status', () => {
  it('shows versions, settings, processes, followers and the size of the database', async () => {
    await makeOrganization(server, 'acme');
    // Followers run a moment after the start of the server.
    const isTrailRunning = async (): Promise<boolean> =>
      (await server.get(PATH)).body.data.attributes.followers.some(isRunningTrail);
    await waitUntil(isTrailRunning, 'the follower of the trail runs');
    const { data } = expectStatus(await server.get(PATH), 200).body;
    expect(data).toMatchObject({ id: 'site', type: 'site-statuses', links: { self: PATH } });
    const { attributes } = data;
    expect(attributes.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(attributes['postgres-version']).toMatch(/^\d+/);
    expect(attributes['database-bytes']).toBeGreaterThan(1_000_000);
    expect(attributes.processes.length).toBeGreaterThan(0);
    expect(attributes.settings).toContainEqual({ name: 'CADASTRE_EDITION', value: 'all' });
    const names = attributes.followers.map(({ name }: any) => name);
    expect(names).toEqual(expect.arrayContaining(['audit_trail', 'workspace_history', 'run_queue', 'state_sweeper']));
    expect(names).not.toContain('publisher');
    expect(attributes.followers.find(({ name }: any) => name === 'audit_trail')).toMatchObject({
      running: true,
      behind: expect.any(Number),
    });
  });

  it('shows the last run of each scheduled job, and when the next one is due', async () => {
    const record = createJobRecorder(server.database, { now: () => new Date('2026-03-01T10:00:00.000Z') });
    const listJobs = async (): Promise<any[]> =>
      expectStatus(await server.get(PATH), 200).body.data.attributes['scheduled-jobs'];
    const readJob = async (name: string) => (await listJobs()).find((job) => job.name === name);
    const hourly = (await listJobs()).find((job) => job['every-seconds'] === HOUR_SECONDS);
    const name = hourly.name as string;
    const job = { name, 'every-seconds': HOUR_SECONDS };
    expect(await readJob(name)).toEqual({
      ...job,
      'last-run-at': null,
      'last-result': null,
      'last-success-at': null,
      'next-run-at': null,
    });
    await record(name, true);
    const success = { 'last-success-at': '2026-03-01T10:00:00.000Z' };
    expect(await readJob(name)).toEqual({
      ...job,
      ...success,
      'last-run-at': '2026-03-01T10:00:00.000Z',
      'last-result': 'succeeded',
      'next-run-at': '2026-03-01T11:00:00.000Z',
    });
    const later = createJobRecorder(server.database, { now: () => new Date('2026-03-01T11:00:00.000Z') });
    await later(name, false);
    expect(await readJob(name)).toEqual({
      ...job,
      ...success,
      'last-run-at': '2026-03-01T11:00:00.000Z',
      'last-result': 'failed',
      'next-run-at': null,
    });
  });

  it('shows one success in 10 s of a job that runs often, and each change of the result', async () => {
    let now = Date.parse('2026-03-01T10:00:00.000Z');
    const record = createJobRecorder(server.database, { now: () => new Date(now) });
    const runAfter = async (ms: number, succeeded: boolean) => {
      now += ms;
      await record('notification_deliveries', succeeded);
      const { attributes } = expectStatus(await server.get(PATH), 200).body.data;
      const state = attributes['scheduled-jobs'].find(({ name }: any) => name === 'notification_deliveries');
      return [state['last-run-at'].slice(17, 23), state['last-result']];
    };
    expect(await runAfter(0, true)).toEqual(['00.000', 'succeeded']);
    expect(await runAfter(9_999, true)).toEqual(['00.000', 'succeeded']);
    expect(await runAfter(1, true)).toEqual(['10.000', 'succeeded']);
    expect(await runAfter(1_000, false)).toEqual(['11.000', 'failed']);
    expect(await runAfter(1_000, true)).toEqual(['12.000', 'succeeded']);
  });

  it('shows when the views were last compared with the log, up to which position, and the result', async () => {
    const clock = { now: () => new Date('2026-03-01T10:00:00.000Z') };
    const readVerification = async () =>
      expectStatus(await server.get(PATH), 200).body.data.attributes['last-verification'];
    expect(await readVerification()).toBeNull();
    const end = await readLogEnd(server.database);
    await recordVerification(server.database, clock, { end, isClean: false });
    expect(await readVerification()).toEqual({ 'ended-at': '2026-03-01T10:00:00.000Z', result: 'faulty', ...end });
    expect(end).toEqual({ transaction: expect.stringMatching(/^\d+$/), position: expect.any(Number) });
    await recordVerification(server.database, clock, { end: null, isClean: true });
    expect(await readVerification()).toMatchObject({ result: 'clean', transaction: null, position: null });
  });

  it('contains no secret', async () => {
    const { text } = expectStatus(await server.get(PATH), 200);
    expect(text).not.toMatch(/password|secret|postgres(?:ql)?:\/\//i);
  });

  it('does not exist for owners, people without an organization, and callers without a token', async () => {
    const { ownersTeam } = await makeOrganization(server, 'other');
    const owner = await makeMember(server, 'other', 'olga', [ownersTeam]);
    expectStatus(await owner.get(PATH), 404);
    await ensureUser(server.store, server.runtime.ids, 'nina', false);
    expectStatus(await server.as(null).get(PATH), 401);
  });
});

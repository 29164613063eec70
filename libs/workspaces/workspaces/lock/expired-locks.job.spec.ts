import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import {
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { createExpiredLocksJob, workspacesDefinition } from '../index.js';

const clock = new FixedClock();
let server: TestServer;
let other: SeededMember;

beforeAll(async () => {
  server = await startTestServer({ clock });
  await makeOrganization(server, 'acme');
  const team = await makeTeam(server, 'acme', 'operators', { 'organization-access': { 'manage-workspaces': true } });
  other = await makeMember(server, 'acme', 'other', [team]);
});

afterAll(() => server.close());

const endLocks = (): Promise<void> =>
  createExpiredLocksJob(server.store, clock, server.runtime.ids).run({
    signal: new AbortController().signal,
    done: () => undefined,
  });

const act = (id: string, action: string, body?: object) =>
  server.post(`/api/v2/workspaces/${id}/actions/${action}`, body);

const show = async (id: string) => (await server.get(`/api/v2/workspaces/${id}`)).body.data.attributes;

const addSeconds = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString();

describe('a lock with a lease', () => {
  it('shows its end, and ends then', async () => {
    const id = await makeWorkspace(server, 'acme', 'leased');
    const locked = await act(id, 'lock', { reason: 'import', 'expires-in': 60 });
    expect(locked.body.data.attributes).toMatchObject({
      locked: true,
      'locked-reason': 'import',
      'lock-expires-at': addSeconds(60),
    });
    clock.pass({ seconds: 59 });
    await endLocks();
    expect(await show(id)).toMatchObject({ locked: true });
    clock.pass({ seconds: 1 });
    await endLocks();
    expect(await show(id)).toMatchObject({ locked: false, 'locked-reason': null, 'lock-expires-at': null });
    const events = await readWholeLog(server.store);
    expect(events.filter(({ stream }) => stream === id).at(-1)).toMatchObject({
      type: 'WorkspaceLockExpired',
      context: { accessor: { id: 'system', name: 'lock leases' } },
    });
  });

  it('lasts as long as its holder renews it', async () => {
    const id = await makeWorkspace(server, 'acme', 'renewed');
    await act(id, 'lock', { data: { type: 'workspaces', attributes: { 'expires-in': 60 } } });
    clock.pass({ seconds: 50 });
    const renewed = await act(id, 'renew-lock', { 'expires-in': 60 });
    expect(renewed.body.data.attributes['lock-expires-at']).toBe(addSeconds(60));
    clock.pass({ seconds: 50 });
    await endLocks();
    expect(await show(id)).toMatchObject({ locked: true });
    expect((await act(id, 'unlock')).status).toBe(200);
    await act(id, 'lock');
    clock.pass({ seconds: 60 });
    await endLocks();
    expect(await show(id)).toMatchObject({ locked: true, 'lock-expires-at': null });
  });

  it('is not renewed by another caller', async () => {
    const id = await makeWorkspace(server, 'acme', 'foreign');
    await act(id, 'lock', { 'expires-in': 60 });
    const answer = await other.post(`/api/v2/workspaces/${id}/actions/renew-lock`, { 'expires-in': 60 });
    expect([answer.status, answer.body.errors[0].detail]).toEqual([409, expect.stringContaining('is locked by')]);
  });

  it.each([
    ['lock', { 'expires-in': 9 }],
    ['lock', { 'expires-in': 604_801 }],
    ['lock', { 'expires-in': '60' }],
    ['renew-lock', { 'expires-in': 1.5 }],
    ['renew-lock', {}],
  ])('is refused by %s with %j', async (action, body) => {
    const id = await makeWorkspace(server, 'acme', `refused-${crypto.randomUUID()}`);
    const answer = await act(id, action, body);
    expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, '/expires-in']);
    expect(await show(id)).toMatchObject({ locked: false });
  });

  it('leaves views that equal the rebuilt ones', async () => {
    const id = await makeWorkspace(server, 'acme', 'rebuilt');
    await act(id, 'lock', { 'expires-in': 60 });
    await act(id, 'unlock');
    await act(id, 'lock');
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });
});

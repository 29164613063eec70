import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { ensureUser } from '#identity/people';
import { FixedClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { FormClient, makeLink, makePerson, PASSWORD } from '../../../../test/support/sign-in.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { RECORDED_PER_MINUTE } from './refused-sign-ins.queries.js';

const clock = new FixedClock();
let server: TestServer;
let ada: string;

beforeAll(async () => {
  server = await startTestServer({ clock, forBrowsers: true });
  ada = await makePerson(server, 'ada');
});
afterAll(() => server.close());
// Each test begins a new minute, and no address has to wait.
beforeEach(async () => {
  clock.pass({ ms: 60_000 });
  await server.database.rows(sql`delete from sign_in.attempts`);
});

/** Returns the events of the refusals that the work causes. */
const recordRefusals = async (work: () => Promise<unknown>) => {
  const before = (await readWholeLog(server.store)).length;
  await work();
  const events = (await readWholeLog(server.store)).slice(before);
  return events.filter(({ type }) => type === 'SignInRefused').map(({ data }) => data as Record<string, unknown>);
};

const typePassword = (login: string, password = PASSWORD) =>
  new FormClient(server.url).post('/sign-in', { login, password });

const forgetAttempts = () => server.database.rows(sql`delete from sign_in.attempts`);

describe('a refused sign-in', () => {
  it('with an unknown name is recorded with a fingerprint of the name, and without the name or the password', async () => {
    const login = 'correct horse battery staple';
    const [first, second, other] = await recordRefusals(async () => {
      await typePassword(login, 'a secret of somebody');
      await typePassword(login.toUpperCase());
      await typePassword('somebody else');
    });
    expect(first).toEqual({
      reason: 'unknown-account',
      user: null,
      provider: null,
      nameFingerprint: expect.stringMatching(/^[\w-]{16}$/),
      omitted: 0,
    });
    expect(second?.['nameFingerprint']).toBe(first?.['nameFingerprint']);
    expect(other?.['nameFingerprint']).not.toBe(first?.['nameFingerprint']);
    const stored = await server.database.rows(sql`select data, context from event_store.events`);
    expect(JSON.stringify(stored)).not.toContain(login);
    expect(JSON.stringify(stored)).not.toContain('a secret of somebody');
  });

  it('with a wrong password of an account is recorded as an event of the account only', async () => {
    expect(await recordRefusals(() => typePassword('ada', 'four other words'))).toEqual([]);
  });

  it('is recorded with the account if the account must wait', async () => {
    const refusals = await recordRefusals(async () => {
      for (let attempt = 0; attempt < 6; attempt += 1) await typePassword('ada', 'four other words');
    });
    expect(refusals).toEqual([
      { reason: 'too-many-attempts', user: ada, provider: null, nameFingerprint: null, omitted: 0 },
    ]);
  });

  it('is recorded for a used link, an unknown passkey and a suspended person', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'sam', false);
    const secret = await makeLink(server, id);
    const refusals = await recordRefusals(async () => {
      await server.post(`/api/v2/admin/users/${id}/actions/suspend`);
      await new FormClient(server.url).post('/sign-in/link', { secret });
      await new FormClient(server.url).post('/sign-in/link', { secret });
    });
    expect(refusals.map(({ reason, user }) => [reason, user])).toEqual([
      ['suspended', id],
      ['ended-link', null],
    ]);
  });

  it('is counted in the first event of a later minute if a minute has too many', async () => {
    const floods = await recordRefusals(async () => {
      for (let attempt = 0; attempt < RECORDED_PER_MINUTE + 7; attempt += 1) {
        await typePassword(`stranger ${attempt}`);
        await forgetAttempts();
      }
    });
    expect(floods.map(({ omitted }) => omitted)).toEqual(Array.from({ length: RECORDED_PER_MINUTE }, () => 0));
    clock.pass({ ms: 60_000 });
    const later = await recordRefusals(async () => {
      await typePassword('stranger');
      await typePassword('stranger');
    });
    expect(later.map(({ omitted }) => omitted)).toEqual([7, 0]);
  });

  it('is counted if many arrive at the same time', async () => {
    const attempts = RECORDED_PER_MINUTE * 2;
    const refusals = await recordRefusals(() =>
      Promise.all(
        Array.from({ length: attempts }, () => new FormClient(server.url).post('/sign-in/link', { secret: 'x' })),
      ),
    );
    expect(refusals).toHaveLength(RECORDED_PER_MINUTE);
    clock.pass({ ms: 60_000 });
    const [next] = await recordRefusals(() => new FormClient(server.url).post('/sign-in/link', { secret: 'x' }));
    expect(next?.['omitted']).toBe(attempts - RECORDED_PER_MINUTE);
  });
});

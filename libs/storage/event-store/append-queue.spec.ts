import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { Refusal, sql, type EventContext } from '#platform/kernel';
import { getSqlState, getViolatedConstraint, isVersionConflictError } from '#platform/postgres';
import { LOG_START } from './log-positions.js';
import { context, createLampLit, lampDefinition, lampHung, TestEventStore, waitForCondition } from './spec.js';
import { expectVersion, type StreamWrite } from './writes.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
});
afterEach(async () => {
  await testStore.close();
  await testDatabase.drop();
});

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => null,
    (error: unknown) => error,
  );
const failuresOf = (attempts: readonly Promise<unknown>[]): Promise<unknown[]> => Promise.all(attempts.map(failureOf));

const write = (stream: string, expected: StreamWrite['expected'], by = 'ada', organization = 'org-1'): StreamWrite => ({
  stream,
  organization,
  expected,
  events: [createLampLit(by)],
});

const by = (id: string): EventContext => ({ ...context, accessor: { id, type: 'users', name: `name of ${id}` } });

const hang = (count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, n) => testStore.append(`lamp-${n}`, 0, lampHung(`room ${n}`))));

const listTransactions = async (): Promise<number[]> =>
  (
    await testStore.database.rows<{ appends: number }>(
      sql`select count(distinct stream)::integer as appends from event_store.events group by transaction order by transaction`,
    )
  ).map(({ appends }) => appends);

const readVersion = async (stream: string): Promise<number> => (await testStore.store.log.stream(stream)).length;

const isWaiting = async (): Promise<boolean> =>
  (
    await testStore.database.rows(
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length > 0;

describe('appends at the same time', () => {
  it('share a transaction', async () => {
    await testStore.append('lamp-0', 0, lampHung('room 0'));
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => testStore.append(`lamp-${n + 1}`, 0, lampHung(`room ${n + 1}`))),
    );
    expect(await listTransactions()).toEqual([1, 20]);
  });

  it('are all committed if only one of them takes a name that exists', async () => {
    await testStore.append('lamp-first', 0, lampHung('room 7'));
    const failures = await failuresOf(
      Array.from({ length: 20 }, (_, n) => testStore.append(`lamp-${n}`, 0, lampHung(`room ${n}`))),
    );
    expect(failures.map(getViolatedConstraint)).toEqual(failures.map((_, n) => (n === 7 ? 'lamps_room_key' : null)));
    expect(failures.filter((failure) => failure === null)).toHaveLength(19);
    expect(await readVersion('lamp-7')).toBe(0);
    expect(await testStore.database.rows(sql`select from lamps`)).toHaveLength(20);
  });

  it('give a name to exactly one of those that take it', async () => {
    const failures = await failuresOf(
      Array.from({ length: 20 }, (_, n) => testStore.append(`lamp-${n}`, 0, lampHung(`room ${n % 4}`))),
    );
    expect(failures.filter((failure) => failure === null)).toHaveLength(4);
    expect(failures.filter((failure) => getViolatedConstraint(failure) === 'lamps_room_key')).toHaveLength(16);
    expect(await testStore.database.rows(sql`select room from lamps order by room`)).toEqual(
      [0, 1, 2, 3].map((n) => ({ room: `room ${n}` })),
    );
  });

  it('are all committed except those with an old version', async () => {
    await hang(12);
    const failures = await failuresOf(
      Array.from({ length: 12 }, (_, n) => testStore.append(`lamp-${n}`, n % 5 === 0 ? 9 : 1, createLampLit('ada'))),
    );
    expect(failures.map((failure) => failure === null || isVersionConflictError(failure))).not.toContain(false);
    expect(failures.map((failure) => failure !== null)).toEqual(failures.map((_, n) => n % 5 === 0));
  });

  it('are all committed except those whose precondition fails', async () => {
    await hang(6);
    const failures = await failuresOf(
      [1, 2, 3, 4].map((n) =>
        testStore.store.append([expectVersion('lamp-0', n % 2 ? 1 : 5), write(`lamp-${n}`, 1)], context),
      ),
    );
    expect(failures.map(isVersionConflictError)).toEqual([false, true, false, true]);
    expect(failures[0]).toBeNull();
  });

  it('are all committed except those of a caller who has been forgotten', async () => {
    await hang(4);
    const append = (n: number, caller: string) => testStore.store.append([write(`lamp-${n}`, 1)], by(caller));
    await testStore.store.append([write('lamp-3', 1)], by('user-forgotten'));
    await testStore.database.rows(sql`select event_store.forget_person('user-forgotten')`);
    const failures = await failuresOf([append(0, 'user-2'), append(1, 'user-forgotten'), append(2, 'user-3')]);
    expect(failures.map(getSqlState)).toEqual(['', 'CA401', '']);
    expect(failures[0]).toBeNull();
    expect(await readVersion('lamp-1')).toBe(1);
  });
});

describe('a group', () => {
  it('does not wait for a stream that another transaction has locked', async () => {
    await hang(4);
    const holder = await testStore.connect();
    await holder.query(`begin; select pg_advisory_xact_lock(event_store.lock_of('lamp-0'))`);
    const waiting = testStore.append('lamp-0', 1, createLampLit('ada'));
    await Promise.all([1, 2, 3].map((n) => testStore.append(`lamp-${n}`, 1, createLampLit('ada'))));
    expect(await readVersion('lamp-0')).toBe(1);
    await holder.query('rollback');
    await waiting;
    expect(await readVersion('lamp-0')).toBe(2);
  });

  it('does not delay appends of other organizations while it waits for a row', async () => {
    await hang(2);
    const holder = await testStore.connect();
    await holder.query(`begin; update views.lamps set watts = 1 where id = 'lamp-0'`);
    const waiting = testStore.append('lamp-0', 1, createLampLit('ada'));
    await waitForCondition(isWaiting);
    await testStore.store.append([write('lamp-1', 1, 'bob', 'org-2')], context);
    await testStore.store.append([write('lamp-1', 2, 'bob', 'org-2')], context);
    expect(await readVersion('lamp-0')).toBe(1);
    await holder.query('rollback');
    await waiting;
    expect(await readVersion('lamp-1')).toBe(3);
  });

  it('fails as a whole, and is not sent again, if its connection ends before the response', async () => {
    await hang(5);
    const holder = await testStore.connect();
    await holder.query(`begin; update views.lamps set watts = 1 where id = 'lamp-0'`);
    const attempts = failuresOf([0, 1, 2, 3, 4].map((n) => testStore.append(`lamp-${n}`, 1, createLampLit('ada'))));
    await waitForCondition(isWaiting);
    await holder.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    const failures = await attempts;
    // At once, although the process of the ended connection may still exist.
    await testStore.append('lamp-5', 0, lampHung('hall'));
    expect(failures.every((failure) => failure instanceof Refusal && failure.kind === 'unavailable')).toBe(true);
    await holder.query('rollback');
    expect(await Promise.all([0, 1, 2, 3, 4].map((n) => readVersion(`lamp-${n}`)))).toEqual([1, 1, 1, 1, 1]);
    await testStore.append('lamp-0', 1, createLampLit('ada'));
  });
});

describe('two processes', () => {
  const STREAMS = 5;
  const anyWrites = fc.uniqueArray(
    fc.record({
      n: fc.nat(STREAMS - 1),
      kind: fc.constantFrom('known version', 'any version', 'precondition', 'wrong version'),
      organization: fc.constantFrom('org-1', 'org-2'),
    }),
    { selector: ({ n }) => n, minLength: 1, maxLength: 3 },
  );
  type PlannedWrite = { readonly n: number; readonly kind: string; readonly organization: string };

  const appendThrough = async (store: TestEventStore, planned: readonly PlannedWrite[]): Promise<string[]> => {
    const writes: StreamWrite[] = [];
    for (const { n, kind, organization } of planned) {
      const version = await readVersion(`lamp-${n}`);
      if (kind === 'precondition') writes.push(expectVersion(`lamp-${n}`, version));
      else {
        const expected = { 'any version': 'any', 'known version': version, 'wrong version': version + 100 }[kind];
        writes.push(write(`lamp-${n}`, expected as StreamWrite['expected'], 'ada', organization));
      }
    }
    const failure = await failureOf(store.store.append(writes, context));
    expect(failure === null || isVersionConflictError(failure) ? null : failure).toBeNull();
    return failure === null ? writes.filter(({ events }) => events.length > 0).map(({ stream }) => stream) : [];
  };

  it('append to a few streams at the same time without a deadlock, a gap or a lost event', async () => {
    const otherStore = TestEventStore.ofVersion(testDatabase.url, lampDefinition);
    await hang(STREAMS);
    await fc.assert(
      fc.asyncProperty(fc.array(anyWrites, { minLength: 2, maxLength: 24 }), async (plans) => {
        const before = await Promise.all(Array.from({ length: STREAMS }, (_, n) => readVersion(`lamp-${n}`)));
        const written = (
          await Promise.all(plans.map((plan, n) => appendThrough(n % 2 ? testStore : otherStore, plan)))
        ).flat();
        for (const [n, version] of before.entries()) {
          const added = written.filter((stream) => stream === `lamp-${n}`).length;
          const versions = (await testStore.store.log.stream(`lamp-${n}`)).map((event) => event.version);
          expect(versions).toEqual(Array.from({ length: version + added }, (_, index) => index + 1));
        }
      }),
      { numRuns: 25 },
    );
    await otherStore.close();
    const log = await testStore.store.log.read(LOG_START, 10_000, (statement) => testStore.database.rows(statement), {
      extent: 'committed',
    });
    const versions = new Map<string, number>();
    for (const { stream, version } of log) {
      expect(version).toBe((versions.get(stream) ?? 0) + 1);
      versions.set(stream, version);
    }
  });
});

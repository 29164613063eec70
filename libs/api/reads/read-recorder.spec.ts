import { Readable } from 'node:stream';
import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unavailable, type Message } from '#platform/kernel';
import { UNRESTRICTED, type Actor } from '#api/access';
import type { IdempotentWrite } from '#storage/event-store';
import { RandomIds } from '#platform/host';
import { ReadRecorder, releaseOnceRecorded } from './read-recorder.js';

type LampSeenEvent = Message<'LampSeen', { lamp: string }>;

const actor = (id: string): Actor => ({
  kind: 'user',
  id,
  name: `name of ${id}`,
  siteAdmin: false,
  credential: 'token',
  assurance: null,
  provedAt: null,
  teams: [],
  rolesByOrganization: new Map(),
  closedTo: new Map(),
  restriction: UNRESTRICTED,
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
  request: { id: null, address: '192.0.2.1', userAgent: null },
});

const lampSeen = (lamp: string): LampSeenEvent => ({ type: 'LampSeen', data: { lamp } });

/** A log whose appends wait or fail as the test requires. */
class Log {
  readonly appends: (readonly IdempotentWrite[])[] = [];
  private waiting: (() => void)[] = [];
  open = true;
  fails: (writes: readonly IdempotentWrite[]) => Error | null = () => null;

  retryOnConflict = <T>(work: () => Promise<T>): Promise<T> => work();

  appendOnce = async (writes: readonly IdempotentWrite[]): Promise<ReadonlySet<string>> => {
    this.appends.push(writes);
    if (!this.open) await new Promise<void>((resolve) => this.waiting.push(resolve));
    const error = this.fails(writes);
    if (error) throw error;
    return new Set();
  };

  let(): void {
    this.open = true;
    for (const resolve of this.waiting) resolve();
  }

  get lamps(): unknown[] {
    return this.appends.map((writes) =>
      writes.map(({ stream, events }) => [stream, ...events.map(({ data }) => (data as LampSeenEvent['data']).lamp)]),
    );
  }
}

const over = (log: Log, options = {}): ReadRecorder =>
  new ReadRecorder(log, new RandomIds(), { recorded: true, ...options });
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(true));

describe('reads', () => {
  it('are recorded with their caller, in a stream that has no other writer', async () => {
    const log = new Log();
    await over(log).record<LampSeenEvent>(actor('user-1'), 'org-1', lampSeen('a'), lampSeen('b'));
    expect(log.appends).toEqual([
      [
        {
          stream: 'reads/org-1/user-1',
          organization: 'org-1',
          writer: 'user-1',
          events: ['a', 'b'].map((lamp) => ({
            ...lampSeen(lamp),
            id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            context: expect.objectContaining({
              accessor: { id: 'user-1', type: 'users', name: 'name of user-1' },
              request: { id: null, address: '192.0.2.1', userAgent: null },
            }),
          })),
        },
      ],
    ]);
  });

  it('wait while other reads are being appended, and are then appended together', async () => {
    const log = new Log();
    log.open = false;
    // Long enough that the first append never exceeds its time, even on a slow machine.
    const reads = over(log, { turnMs: 60_000 });
    const answered: string[] = [];
    const read = async (user: string, lamp: string): Promise<void> => {
      await reads.record<LampSeenEvent>(actor(user), 'org-1', lampSeen(lamp));
      answered.push(lamp);
    };
    const all = [read('user-1', 'a')];
    await turns();
    all.push(read('user-1', 'b'), read('user-2', 'c'), read('user-1', 'd'));
    await turns();
    expect(log.lamps).toEqual([[['reads/org-1/user-1', 'a']]]);
    expect(answered).toEqual([]);
    log.let();
    await Promise.all(all);
    expect(log.lamps).toEqual([
      [['reads/org-1/user-1', 'a']],
      [
        ['reads/org-1/user-1', 'b', 'd'],
        ['reads/org-1/user-2', 'c'],
      ],
    ]);
    expect(answered.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are refused if they cannot be recorded, and later reads are not', async () => {
    const log = new Log();
    const reads = over(log);
    log.fails = () => unavailable('The database is not available at the moment.', 1);
    await expect(reads.record<LampSeenEvent>(actor('user-1'), 'org-1', lampSeen('a'))).rejects.toThrow('not available');
    log.fails = () => new Error('disk quota exceeded');
    await expect(reads.record<LampSeenEvent>(actor('user-1'), 'org-1', lampSeen('b'))).rejects.toMatchObject({
      kind: 'unavailable',
    });
    log.fails = () => null;
    await reads.record<LampSeenEvent>(actor('user-1'), 'org-1', lampSeen('c'));
    expect(log.appends).toHaveLength(3);
  });

  it('are appended for at most a hundred callers together', async () => {
    const log = new Log();
    log.open = false;
    const reads = over(log);
    const all = [reads.record<LampSeenEvent>(actor('user-0'), 'org-1', lampSeen('first'))];
    for (let n = 1; n <= 250; n += 1) all.push(reads.record<LampSeenEvent>(actor(`user-${n}`), 'org-1', lampSeen('a')));
    log.let();
    await Promise.all(all);
    expect(log.appends.map(({ length }) => length)).toEqual([1, 100, 100, 50]);
    const streams = log.appends.flat().map(({ stream }) => stream);
    expect(streams).toEqual(Array.from({ length: 251 }, (_, n) => `reads/org-1/user-${n}`));
  });

  it('are refused alone if those of one caller cannot be recorded', async () => {
    const log = new Log();
    const lost = Object.assign(new Error('somebody has been forgotten'), { code: 'CA401' });
    const of = (user: string, writes: readonly IdempotentWrite[]) => writes.some(({ writer }) => writer === user);
    log.fails = (writes) => {
      if (of('user-2', writes)) return new Error('a value that is too long');
      return of('user-3', writes) ? lost : null;
    };
    const reads = over(log);
    const all = [1, 1, 2, 2, 3, 4].map((n) => reads.record<LampSeenEvent>(actor(`user-${n}`), 'org-1', lampSeen('a')));
    const ends = await Promise.allSettled(all);
    const [unrecorded, unknown] = [{ reason: { kind: 'unavailable' } }, { reason: lost }];
    const recorded = { status: 'fulfilled' };
    expect(ends).toMatchObject([recorded, recorded, unrecorded, unrecorded, unknown, recorded]);
    // The reads of one caller are retried once together, however many there are.
    expect(log.appends.filter((writes) => of('user-2', writes))).toHaveLength(2);
  });

  it('do not wait for ever behind a blocked append', async () => {
    const log = new Log();
    log.open = false;
    const reads = over(log);
    const blockedRead = reads.record<LampSeenEvent>(actor('user-1'), 'org-1', lampSeen('a'));
    await turns();
    log.open = true;
    await reads.record<LampSeenEvent>(actor('user-2'), 'org-1', lampSeen('b'));
    log.let();
    await blockedRead;
    expect(log.lamps).toEqual([[['reads/org-1/user-1', 'a']], [['reads/org-1/user-2', 'b']]]);
  });

  it('are not recorded without an organization, without events, or without an audit trail', async () => {
    const log = new Log();
    await over(log).record<LampSeenEvent>(actor('user-1'), null, lampSeen('a'));
    await over(log).record<LampSeenEvent>(actor('user-1'), 'org-1');
    await over(log, { recorded: false }).record<LampSeenEvent>(actor('user-1'), 'org-1', lampSeen('a'));
    expect(log.appends).toEqual([]);
  });
});

describe('releaseOnceRecorded', () => {
  it('destroys the content if the read cannot be recorded', async () => {
    const content = Readable.from(['bytes']);
    await expect(releaseOnceRecorded(content, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(content.destroyed).toBe(true);
    const recordedContent = Readable.from(['bytes']);
    expect(await releaseOnceRecorded(recordedContent, Promise.resolve())).toBe(recordedContent);
    expect(recordedContent.destroyed).toBe(false);
  });
});

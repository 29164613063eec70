import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LOG_START, writeCheckpoint } from '#storage/event-store';
import type { QueryRunner } from '#platform/postgres';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import {
  createLampLit,
  lampDefinition,
  lampHung,
  NOW,
  TestEventStore,
  waitForCondition,
} from '../../event-store/spec.js';
import type { OutboundMessage } from '../topics/cloud-event.js';
import { findReplayRefusal, REPLAY_HEADER, replayLog, type ReplayRequest, type ReplayResult } from './log-replay.js';

const LAMPS = 4;

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let requests: OutboundMessage[][];

const run: QueryRunner = (statement) => testStore.database.rows(statement);

/** Transactions in other databases of the server delay the time when a follower may read an event. */
const waitUntilSettled = (events: number): Promise<void> =>
  waitForCondition(async () => (await testStore.store.log.read(LOG_START, events, run)).length === events);

const keep = (messages: readonly OutboundMessage[]): Promise<void> => {
  requests.push([...messages]);
  return Promise.resolve();
};

type ReplayTestOptions = {
  readonly report?: (sent: number) => void;
  readonly send?: (messages: readonly OutboundMessage[]) => Promise<void>;
};

/** Stores how far the publisher has sent the log: up to the event at this position. */
const publishUpTo = async (position: number): Promise<void> => {
  const [event] = (await testStore.store.log.read(LOG_START, LAMPS * 2, run)).slice(position - 1);
  if (!event) throw new Error(`there is no event at ${position}`);
  await run(writeCheckpoint('publisher', event));
};

const replay = (
  request: Partial<ReplayRequest>,
  controller = new AbortController(),
  { report = () => undefined, send = keep }: ReplayTestOptions = {},
): Promise<ReplayResult> =>
  replayLog(
    { from: { position: 1 }, toPosition: null, types: null, topic: 'copy', isLive: false, rate: 1_000_000, ...request },
    {
      store: testStore.store,
      registry: lampDefinition.kinds,
      origin: { source: 'https://cadastre.example', prefix: 'cadastre', mode: 'binary' },
      sender: { send },
      clock: new FixedClock(),
      run,
      signal: controller.signal,
      report: ({ sent }) => report(sent),
    },
  );

const positionsSent = (): number[] => requests.flat().map(({ headers }) => Number(headers['ce_position']));

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
  requests = [];
  for (let lamp = 1; lamp <= LAMPS; lamp += 1)
    await testStore.append(`lamp-${lamp}`, 0, lampHung(`room ${lamp}`), createLampLit('ada'));
  await waitUntilSettled(LAMPS * 2);
});
afterEach(async () => {
  await testStore.close();
  await testDatabase.drop();
});

describe('replayLog', () => {
  it('sends all events in the order of the log to the topic, marked as a replay', async () => {
    await expect(replay({})).resolves.toEqual({ sent: 8, next: null });
    expect(positionsSent()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(new Set(requests.flat().map(({ topic }) => topic))).toEqual(new Set(['copy']));
    expect(requests.flat().every(({ headers }) => headers[REPLAY_HEADER] === 'true')).toBe(true);
  });

  it('sends events of some types between two positions', async () => {
    await expect(replay({ from: { position: 2 }, toPosition: 7, types: ['LampLit'] })).resolves.toEqual({
      sent: 3,
      next: null,
    });
    expect(positionsSent()).toEqual([2, 4, 6]);
  });

  it('begins at a time, and sends nothing if no event is as late', async () => {
    await expect(replay({ from: { time: NOW } })).resolves.toMatchObject({ sent: 8 });
    requests = [];
    const later = new Date(NOW.getTime() + 1);
    await expect(replay({ from: { time: later } })).resolves.toEqual({ sent: 0, next: null });
    expect(requests).toEqual([]);
  });

  it('stops after the present page, and names the position to continue from', async () => {
    const controller = new AbortController();
    const result = await replay({ rate: 3 }, controller, { report: () => controller.abort() });
    expect(result).toEqual({ sent: 3, next: 4 });
    expect(positionsSent()).toEqual([1, 2, 3]);
  });

  it('sends a live topic only events that the publisher has sent', async () => {
    await expect(replay({ isLive: true })).resolves.toEqual({ sent: 0, next: null });
    await publishUpTo(5);
    await expect(replay({ isLive: true })).resolves.toEqual({ sent: 5, next: null });
    expect(positionsSent()).toEqual([1, 2, 3, 4, 5]);
    await expect(replay({ isLive: true, toPosition: 3 })).resolves.toEqual({ sent: 3, next: null });
  });

  it('names the position to continue from if the brokers refuse a page', async () => {
    const send = (): Promise<void> => Promise.reject(new Error('no broker'));
    await expect(replay({ from: { position: 3 } }, undefined, { send })).rejects.toMatchObject({
      message: 'no broker',
      result: { sent: 0, next: 3 },
    });
  });
});

describe('findReplayRefusal', () => {
  it.each([
    [{ position: 1 }, null, null],
    [{ position: 8 }, 8, null],
    [{ time: NOW }, 8, null],
    [{ position: 5 }, 2, '--to-position: must be at least the position of --from, which is 5, got 2'],
    [{ position: 9 }, null, '--from: the last position of the log is 8, got 9'],
    [{ time: NOW }, 9, '--to-position: the last position of the log is 8, got 9'],
  ])('from %j to %j returns %j', async (from, toPosition, refusal) => {
    expect(await findReplayRefusal({ from, toPosition, isLive: false }, run)).toBe(refusal);
  });

  it('refuses a start that the publisher has not reached, for a live topic', async () => {
    const check = (position: number) => findReplayRefusal({ from: { position }, toPosition: null, isLive: true }, run);
    await publishUpTo(5);
    expect(await check(5)).toBeNull();
    expect(await check(6)).toBe(
      '--from: the publisher has not sent the event at position 6 yet; wait until it has, or choose a new topic',
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Consumer, Kafka } from 'kafkajs';
import { ConsumerGroupMember } from './consumer-group-member.js';
import type { RetryPauses } from './retry-pauses.js';

type Listener = (event: { readonly payload: object }) => void;

const listeners = new Map<string, Listener>();
const emit = (event: string, payload: object): void => listeners.get(event)?.({ payload });

/** A consumer that joins at once. */
const consumer = {
  events: { GROUP_JOIN: 'join', CRASH: 'crash' },
  connect: () => Promise.resolve(),
  subscribe: () => Promise.resolve(),
  disconnect: () => Promise.resolve(),
  on: (event: string, listener: Listener) => listeners.set(event, listener),
  run: () => Promise.resolve(emit('join', { memberAssignment: {} })),
} as unknown as Consumer;

describe('a member of a consumer group', () => {
  it('ends its pauses only after it has been a member for 30 s, because a crash can follow each join', async () => {
    const stopping = new AbortController();
    const steady: AbortSignal[] = [];
    const calls: string[] = [];
    const { promise: joinedForLong, resolve } = Promise.withResolvers<void>();
    const pauses = {
      succeeded: () => void calls.push('succeeded'),
      succeedAfter: (ms: number, signal: AbortSignal) => {
        expect(ms).toBe(30_000);
        steady.push(signal);
      },
      failed: (message: string) => {
        calls.push(message);
        return Promise.resolve();
      },
    } as unknown as RetryPauses;
    let joins = 0;
    const member = new ConsumerGroupMember({
      kafka: { consumer: () => consumer } as unknown as Kafka,
      group: 'inventory',
      topics: ['cadastre.workspaces'],
      signal: stopping.signal,
      pauses,
      onAssigned: () => {
        joins += 1;
        if (joins <= 3) emit('crash', { error: new Error('no codec') });
        else resolve();
        return Promise.resolve();
      },
      onBatch: () => Promise.resolve(),
    });
    await member.join();
    await joinedForLong;
    expect(calls).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('no codec')));
    expect(steady.map(({ aborted }) => aborted)).toEqual([true, true, true, false]);
    stopping.abort();
    await member.leave();
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Consumer, Kafka } from 'kafkajs';
import { ConsumerGroupMember } from './consumer-group-member.js';
import { RetryPauses, type Sleep } from './retry-pauses.js';

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

/** Pauses that take no time. The longest one, after which a membership counts as steady, ends when the test resolves it. */
const createPauses = (signal: AbortSignal) => {
  const warnings: string[] = [];
  const lengths: number[] = [];
  const steady: PromiseWithResolvers<void>[] = [];
  const sleep: Sleep = (ms, options) => {
    if (ms !== 30_000) return Promise.resolve(void lengths.push(ms));
    const longest = Promise.withResolvers<void>();
    options.signal.addEventListener('abort', () => longest.reject(new Error('aborted')));
    steady.push(longest);
    return longest.promise;
  };
  const logger = { warn: (message: string) => void warnings.push(message) };
  return { pauses: new RetryPauses(logger, signal, sleep), warnings, lengths, steady };
};

describe('a member of a consumer group', () => {
  it('waits longer after each crash until it has been a member for 30 s', async () => {
    const stopping = new AbortController();
    const { pauses, warnings, lengths, steady } = createPauses(stopping.signal);
    const joined = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
    const crash = (): void => emit('crash', { error: new Error('no codec') });
    let joins = 0;
    const member = new ConsumerGroupMember({
      kafka: { consumer: () => consumer } as unknown as Kafka,
      group: 'inventory',
      topics: ['cadastre.workspaces'],
      signal: stopping.signal,
      pauses,
      onAssigned: () => {
        joined[joins]?.resolve();
        joins += 1;
        if (joins <= 3) crash();
        return Promise.resolve();
      },
      onBatch: () => Promise.resolve(),
    });
    await member.join();
    await joined[3]?.promise;
    expect(lengths).toEqual([100, 200, 400]);
    expect(warnings).toEqual([expect.stringContaining('no codec'), expect.stringContaining('no codec')]);
    // The time of a membership that has crashed does not count.
    for (const { resolve } of steady.slice(0, 3)) resolve();
    await Promise.allSettled(steady.slice(0, 3).map(({ promise }) => promise));
    crash();
    await joined[4]?.promise;
    steady[4]?.resolve();
    await steady[4]?.promise;
    crash();
    await joined[5]?.promise;
    expect(lengths).toEqual([100, 200, 400, 800, 100]);
    stopping.abort();
    await member.leave();
  });
});

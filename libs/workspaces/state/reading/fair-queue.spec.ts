import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { FairQueue, type QueueLimits } from './fair-queue.js';

const LIMITS: QueueLimits = { concurrency: 1, waiting: 4, waitingOfOwner: 3, waitingBytes: 100, items: 'states' };

/** Creates a queue whose work the test ends, and a list of the started work. */
const queueWith = (limits: Partial<QueueLimits> = {}) => {
  const queue = new FairQueue({ ...LIMITS, ...limits });
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const add = (name: string, bytes = 0): Promise<void> => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    // The first letter of the name is the owner.
    return queue.run(name.slice(0, 1), bytes, () => {
      started.push(name);
      return end.promise;
    });
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.resolve();
    await new Promise(setImmediate);
  };
  return { add, begun: started, end, fail: (name: string) => ends.get(name)?.reject(new Error(name)) };
};

const kindOf = (work: Promise<void>): Promise<unknown> =>
  work.catch((error: unknown) => (error instanceof Refusal ? error.kind : error));

describe('a fair queue', () => {
  it('runs work of one owner after the other, even if one owner sends more', async () => {
    const { add, begun: started, end } = queueWith();
    void add('a1');
    void add('a2');
    void add('a3');
    void add('b1');
    void add('c1');
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
  });

  it('limits simultaneous work, and continues after work that fails', async () => {
    const { add, begun: started, fail } = queueWith({ concurrency: 2 });
    const first = add('a1');
    void add('b1');
    void add('c1');
    await new Promise(setImmediate);
    expect(started).toEqual(['a1', 'b1']);
    fail('a1');
    await expect(first).rejects.toThrow('a1');
    expect(started).toEqual(['a1', 'b1', 'c1']);
  });

  it('refuses work of an owner that has too much waiting work, and accepts work of others', async () => {
    const { add } = queueWith();
    for (const name of ['a0', 'a1', 'a2', 'a3']) void add(name);
    expect(await kindOf(add('a4'))).toBe('too-many');
    void add('b1');
    expect(await kindOf(add('c1'))).toBe('unavailable');
  });

  it('refuses work that needs too much memory until memory is free again', async () => {
    const { add, end } = queueWith();
    void add('a1', 100);
    void add('a2', 60);
    expect(await kindOf(add('b1', 60))).toBe('unavailable');
    await end('a1');
    void add('b2', 60);
    expect(await kindOf(add('c1', 60))).toBe('unavailable');
  });
});

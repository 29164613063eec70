import { describe, expect, it } from '@jest/globals';
import type { Refusal } from '#platform/kernel';
import { BodyMemory, type UnfinishedBody } from './body-memory.js';

const setUp = () => {
  const memory = new BodyMemory({ total: 100, perCaller: 60 });
  const refused: (readonly [name: string, kind: Refusal['kind']])[] = [];
  const body = (name: string, caller: string): UnfinishedBody => {
    const created: UnfinishedBody = {
      caller,
      bytes: 0,
      refuse: ({ kind }) => {
        refused.push([name, kind]);
        memory.remove(created);
      },
    };
    return created;
  };
  return { memory, body, refused };
};

describe('the memory of unfinished bodies', () => {
  it('refuses the body that exceeds the share of its caller', () => {
    const { memory, body, refused } = setUp();
    memory.add(body('first', 'user-1'), 40);
    const second = body('second', 'user-1');
    memory.add(second, 20);
    expect(refused).toEqual([]);
    memory.add(second, 1);
    expect(refused).toEqual([['second', 'too-many']]);
  });

  it('refuses the largest body of the caller with the most bytes if all bodies together are too large', () => {
    const { memory, body, refused } = setUp();
    memory.add(body('small', 'user-1'), 20);
    memory.add(body('large', 'user-1'), 40);
    memory.add(body('other', 'user-2'), 40);
    memory.add(body('newcomer', 'user-3'), 1);
    expect(refused).toEqual([['large', 'unavailable']]);
  });

  it('does not count complete bodies', () => {
    const { memory, body, refused } = setUp();
    for (let n = 0; n < 1_000; n += 1) {
      const complete = body(`body ${n}`, 'user-1');
      memory.add(complete, 60);
      memory.remove(complete);
      memory.remove(complete);
    }
    expect(refused).toEqual([]);
  });
});

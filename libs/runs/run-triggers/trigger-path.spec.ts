import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findTriggerPath, type TriggerEdge } from './trigger-path.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const edge = fc.record({ source: fc.constantFrom(...NAMES), workspace: fc.constantFrom(...NAMES) });

/** Returns the workspaces that are reached in at most this number of triggers. */
const reachedIn = (edges: readonly TriggerEdge[], from: string, steps: number): ReadonlySet<string> => {
  let reached = new Set([from]);
  for (let step = 0; step < steps; step += 1) {
    reached = new Set([...reached, ...edges.filter(({ source }) => reached.has(source)).map((one) => one.workspace)]);
  }
  return reached;
};

describe('the path of run triggers', () => {
  it('is the shortest one, and null exactly if the end is not reached', () => {
    fc.assert(
      fc.property(
        fc.array(edge, { maxLength: 15 }),
        fc.constantFrom(...NAMES),
        fc.constantFrom(...NAMES),
        (edges, from, to) => {
          const path = findTriggerPath(edges, from, to);
          expect(path === null).toBe(!reachedIn(edges, from, NAMES.length).has(to));
          if (!path) return;
          expect([path[0], path.at(-1)]).toEqual([from, to]);
          for (const [index, workspace] of path.slice(1).entries()) {
            expect(edges).toContainEqual({ source: path[index], workspace });
          }
          // No shorter path.
          expect(path.length > 1 && reachedIn(edges, from, path.length - 2).has(to)).toBe(false);
        },
      ),
    );
  });
});

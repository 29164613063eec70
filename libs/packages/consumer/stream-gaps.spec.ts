import { describe, expect, it } from '@jest/globals';
import { StreamGaps } from './stream-gaps.js';

describe('gaps in streams', () => {
  const checkAll = (versions: readonly (readonly [string, number, number | null])[]): readonly string[] => {
    const warnings: string[] = [];
    const gaps = new StreamGaps({ warn: (message) => void warnings.push(message) });
    for (const [stream, version, previous] of versions)
      gaps.check({ topic: 'cadastre.workspaces', stream, version, previous });
    return warnings;
  };

  it('are none if each version follows the stored one', () => {
    expect(
      checkAll([
        ['ws-1', 1, null],
        ['ws-1', 2, 1],
      ]),
    ).toEqual([]);
  });

  it('are counted once if a transaction with several of them is retried', () => {
    const attempt = [
      ['ws-1', 900, null],
      ['ws-2', 4, 2],
    ] as const;
    expect(checkAll([...attempt, ...attempt, ...attempt])).toEqual([
      expect.stringMatching(/ws-1 .* Gaps since the start: 1$/),
      expect.stringMatching(/ws-2 .* Gaps since the start: 2$/),
    ]);
  });

  it('are counted again after 1,000 others, so that the memory for them has a limit', () => {
    const gapOf = (n: number) => [`ws-${n}`, 9, null] as const;
    const gaps = Array.from({ length: 1_023 }, (_, n) => gapOf(n));
    expect(checkAll([...gaps, gapOf(0)]).at(-1)).toMatch(/ws-0 .* Gaps since the start: 1024$/);
    expect(checkAll([...gaps, gapOf(1_000), gapOf(1_023)]).at(-1)).toMatch(/ws-1023 .* Gaps since the start: 1024$/);
  });

  it('are logged once for several attempts, and then at each power of two', () => {
    const warnings = checkAll([
      ['ws-1', 900, null],
      ['ws-1', 900, null],
      ['ws-2', 4, 2],
      ['ws-3', 3, 1],
      ['ws-4', 3, 1],
    ]);
    expect(warnings).toEqual([
      expect.stringContaining('ws-1 of cadastre.workspaces continues at version 900 instead of 1: events are missing'),
      expect.stringContaining('ws-2 of cadastre.workspaces continues at version 4 instead of 3: events are missing'),
      expect.stringMatching(/ws-4 .* Gaps since the start: 4$/),
    ]);
  });
});

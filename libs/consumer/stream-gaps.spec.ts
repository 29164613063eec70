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

import { describe, expect, it } from '@jest/globals';
import { resolveEffectiveVariables, type VariableCandidate, type VariableSetSource } from './precedence.js';

const from = (
  name: string,
  scope: VariableSetSource['scope'],
  ownedBy: VariableSetSource['ownedBy'] = 'organization',
  priority = false,
): VariableCandidate => ({ key: 'region', category: 'terraform', source: { name, scope, ownedBy, priority } });

const own: VariableCandidate = { key: 'region', category: 'terraform', source: null };

/** The weakest first, so that each has to beat what came before. */
const LADDER: readonly VariableCandidate[] = [
  from('a', 'global'),
  from('z', 'projects'),
  from('z', 'workspaces'),
  from('z', 'projects', 'project'),
  from('z', 'workspaces', 'project'),
  own,
  from('z', 'workspaces', 'project', true),
  from('z', 'projects', 'project', true),
  from('z', 'workspaces', 'organization', true),
  from('z', 'projects', 'organization', true),
  from('z', 'global', 'organization', true),
];

describe('of variables with the same key and category', () => {
  it.each(LADDER.map((winner, index) => [index, winner] as const))('the one on step %i wins', (index, winner) => {
    const weaker = LADDER.slice(0, index + 1);
    expect(resolveEffectiveVariables(weaker)).toEqual([winner]);
    expect(resolveEffectiveVariables(weaker.toReversed())).toEqual([winner]);
  });

  it('the set whose name comes first by code points wins where all else is equal', () => {
    const [upper, lower] = [from('B', 'workspaces'), from('a', 'workspaces')];
    expect(resolveEffectiveVariables([lower, upper])).toEqual([upper]);
    // In UTF-16 the second would come first.
    const [private_, astral] = [from('\u{e000}', 'workspaces'), from('\u{1f600}', 'workspaces')];
    expect(resolveEffectiveVariables([astral, private_])).toEqual([private_]);
  });

  it('leaves all others as they come', () => {
    const others: VariableCandidate[] = [
      { key: 'a', category: 'terraform', source: null },
      { key: 'a', category: 'env', source: null },
      { key: 'A', category: 'env', source: null },
    ];
    expect(resolveEffectiveVariables(others)).toEqual(others);
    expect(resolveEffectiveVariables([])).toEqual([]);
  });
});

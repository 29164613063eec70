import { describe, expect, it } from '@jest/globals';
import {
  rankVariables,
  resolveEffectiveVariables,
  type VariableCandidate,
  type VariableSetSource,
} from './precedence.js';

const from = (
  name: string,
  scope: VariableSetSource['scope'],
  ownedBy: VariableSetSource['ownedBy'] = 'organization',
  priority = false,
): VariableCandidate => ({ key: 'region', category: 'terraform', source: { name, scope, ownedBy, priority } });

const own: VariableCandidate = { key: 'region', category: 'terraform', source: null };

/** Weakest first, so that each candidate must win over all candidates before it. */
const WEAKEST_FIRST: readonly VariableCandidate[] = [
  from('a', 'global'),
  from('z', 'projects'),
  from('z', 'workspaces'),
  from('z', 'projects', 'project'),
  from('z', 'workspaces', 'project'),
  own,
  { key: 'region', category: 'terraform', source: 'run' },
  from('z', 'workspaces', 'project', true),
  from('z', 'projects', 'project', true),
  from('z', 'workspaces', 'organization', true),
  from('z', 'projects', 'organization', true),
  from('z', 'global', 'organization', true),
];

describe('the effective variable of a key and category', () => {
  it.each(WEAKEST_FIRST.map((winner, index) => [index, winner] as const))(
    'is the strongest candidate, here number %i from the weakest',
    (index, winner) => {
      const weaker = WEAKEST_FIRST.slice(0, index + 1);
      expect(resolveEffectiveVariables(weaker)).toEqual([winner]);
      expect(resolveEffectiveVariables(weaker.toReversed())).toEqual([winner]);
    },
  );

  it('is followed by the overridden ones, the strongest first, each once', () => {
    const ranked = WEAKEST_FIRST.toReversed().map((each, index) => ({ ...each, id: `var-${index}` }));
    const other = { key: 'zone', category: 'terraform' as const, source: null, id: 'var-zone' };
    expect(rankVariables([...ranked.toReversed(), other])).toEqual([...ranked, other]);
    // A set that applies globally and to the workspace.
    const twice = [from('a', 'global'), from('a', 'workspaces')].map((each) => ({ ...each, id: 'var-a' }));
    expect(rankVariables(twice)).toEqual(twice.slice(1));
  });

  it('comes from the set whose name is first by code points if everything else is equal', () => {
    const [upper, lower] = [from('B', 'workspaces'), from('a', 'workspaces')];
    expect(resolveEffectiveVariables([lower, upper])).toEqual([upper]);
    // In UTF-16 order, the second name would be first.
    const [private_, astral] = [from('\u{e000}', 'workspaces'), from('\u{1f600}', 'workspaces')];
    expect(resolveEffectiveVariables([astral, private_])).toEqual([private_]);
  });

  it('does not depend on variables with another key or category', () => {
    const others: VariableCandidate[] = [
      { key: 'a', category: 'terraform', source: null },
      { key: 'a', category: 'env', source: null },
      { key: 'A', category: 'env', source: null },
    ];
    expect(resolveEffectiveVariables(others)).toEqual(others);
    expect(resolveEffectiveVariables([])).toEqual([]);
  });
});

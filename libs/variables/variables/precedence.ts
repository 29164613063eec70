import type { VariableCategory } from './variable.js';

/** How a variable comes to a workspace from a set. */
export type VariableSetSource = {
  readonly scope: 'global' | 'projects' | 'workspaces';
  readonly priority: boolean;
  readonly ownedBy: 'organization' | 'project';
  /** Of the set. */
  readonly name: string;
};

/** `source` null where it is the workspace's own. */
export type VariableCandidate = {
  readonly key: string;
  readonly category: VariableCategory;
  readonly source: VariableSetSource | null;
};

const OWN = 'own';

/** From the strongest downwards, as the vendor documents it for runs. */
const ORDER: readonly string[] = [
  'priority organization global',
  'priority organization projects',
  'priority organization workspaces',
  'priority project projects',
  'priority project workspaces',
  OWN,
  'project workspaces',
  'project projects',
  'organization workspaces',
  'organization projects',
  'organization global',
];

const getRank = (source: VariableSetSource | null): number =>
  ORDER.indexOf(source ? `${source.priority ? 'priority ' : ''}${source.ownedBy} ${source.scope}` : OWN);

/** Of two sets that are alike, the one whose name comes first by Unicode code points; so UTF-8 sorts too. */
const compareByName = (one: VariableSetSource | null, other: VariableSetSource | null): number =>
  Buffer.compare(Buffer.from(one?.name ?? ''), Buffer.from(other?.name ?? ''));

/** Of each key and category the variable that counts in the workspace, in the order of their keys. */
export const resolveEffectiveVariables = <C extends VariableCandidate>(candidates: readonly C[]): C[] => {
  const best = new Map<string, C>();
  for (const candidate of candidates) {
    const place = `${candidate.category} ${candidate.key}`;
    const rival = best.get(place);
    const order =
      rival && (getRank(candidate.source) - getRank(rival.source) || compareByName(candidate.source, rival.source));
    if (order === undefined || order < 0) best.set(place, candidate);
  }
  return [...best.values()];
};

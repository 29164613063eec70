import type { VariableCategory } from './variable.js';

/** A set that a variable comes from, and how the set applies to the workspace. */
export type VariableSetSource = {
  readonly scope: 'global' | 'projects' | 'workspaces';
  readonly priority: boolean;
  readonly ownedBy: 'organization' | 'project';
  readonly name: string;
};

const RUN = 'run';
const OWN = 'own';

/** Where a variable comes from: a set, the run itself, or null for the workspace. */
type VariableSource = VariableSetSource | typeof RUN | null;

export type VariableCandidate = {
  readonly key: string;
  readonly category: VariableCategory;
  readonly source: VariableSource;
};

/** From the strongest to the weakest, as the vendor documents it for runs. */
const ORDER: readonly string[] = [
  'priority organization global',
  'priority organization projects',
  'priority organization workspaces',
  'priority project projects',
  'priority project workspaces',
  RUN,
  OWN,
  'project workspaces',
  'project projects',
  'organization workspaces',
  'organization projects',
  'organization global',
];

const isSet = (source: VariableSource): source is VariableSetSource => source !== null && source !== RUN;

const getRank = (source: VariableSource): number =>
  ORDER.indexOf(
    isSet(source) ? `${source.priority ? 'priority ' : ''}${source.ownedBy} ${source.scope}` : (source ?? OWN),
  );

const getName = (source: VariableSource): string => (isSet(source) ? source.name : '');

/**
 * Compares sets of equal rank: the name that is first by Unicode code points wins. The byte order of UTF-8 is the same.
 */
const compareByName = (one: VariableSource, second: VariableSource): number =>
  Buffer.compare(Buffer.from(getName(one)), Buffer.from(getName(second)));

/** Returns the candidates of each key and category in the order of the candidates, and of these the strongest first. */
const groupByStrength = <C extends VariableCandidate>(candidates: readonly C[]): readonly (readonly C[])[] =>
  [...Map.groupBy(candidates, ({ category, key }) => `${category} ${key}`).values()].map((rivals) =>
    rivals.toSorted(
      (one, second) => getRank(one.source) - getRank(second.source) || compareByName(one.source, second.source),
    ),
  );

/** Returns the effective variable of each key and category, in the order of the candidates. */
export const resolveEffectiveVariables = <C extends VariableCandidate>(candidates: readonly C[]): C[] =>
  groupByStrength(candidates).flatMap((rivals) => rivals.slice(0, 1));

/**
 * Returns the effective variable of each key and category, followed by those that it overrides, the strongest first. A
 * set that applies in several ways has each of its variables once.
 */
export const rankVariables = <C extends VariableCandidate & { readonly id: string }>(candidates: readonly C[]): C[] => {
  const ranked = groupByStrength(candidates).flat();
  const first = new Map(ranked.toReversed().map((each) => [each.id, each]));
  return ranked.filter((each) => first.get(each.id) === each);
};

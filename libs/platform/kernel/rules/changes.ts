type ComparedFields<Changes> = { readonly [Key in keyof Changes]?: unknown };

/** Returns the changes that differ from `before`, compared as JSON. An update without a difference appends no event. */
export const pickChanged = <Changes extends object>(
  before: ComparedFields<Changes>,
  changes: Changes,
): Partial<Changes> =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([key, value]) => JSON.stringify(before[key as keyof Changes]) !== JSON.stringify(value),
    ),
  ) as Partial<Changes>;

export const hasNoChanges = (changes: object): boolean => Object.keys(changes).length === 0;

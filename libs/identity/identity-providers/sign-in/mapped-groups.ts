/** The groups of a person that map to teams: `groups` to all teams but owners teams, and `ownersGroups` to these. */
export type MappedGroups = { readonly groups: readonly string[]; readonly ownersGroups: readonly string[] };

const isPrefix = (entry: string): boolean => entry.endsWith('*');

const matches = (group: string, entry: string): boolean =>
  isPrefix(entry) ? group.startsWith(entry.slice(0, -1)) : group === entry;

/** Returns the groups of a provider that may map to owners teams: those that its settings contain by their full names. */
export const listOwnersGroups = (mappedGroups: readonly string[]): readonly string[] =>
  mappedGroups.filter((entry) => !isPrefix(entry));

/**
 * Returns those of the stated groups that the setting `mapped-groups` of the provider lets map to teams. An empty list
 * lets every group map, but none to an owners team (ADR 58).
 */
export const selectMappedGroups = (stated: readonly string[], mappedGroups: readonly string[]): MappedGroups => {
  const ownersGroups = listOwnersGroups(mappedGroups);
  return {
    groups:
      mappedGroups.length === 0
        ? stated
        : stated.filter((group) => mappedGroups.some((entry) => matches(group, entry))),
    ownersGroups: stated.filter((group) => ownersGroups.includes(group)),
  };
};

/** A statement of a provider whose groups map to owners teams. */
type OwnersStatement = Pick<MappedGroups, 'ownersGroups'> & {
  readonly managedOwnersGroups: readonly string[] | null;
};

/** Returns the groups whose owners teams these statements decide about. */
export const listManagedOwnersGroups = (statements: readonly OwnersStatement[]): readonly string[] =>
  statements.flatMap(({ ownersGroups, managedOwnersGroups }) => [...ownersGroups, ...(managedOwnersGroups ?? [])]);

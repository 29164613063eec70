/**
 * A text that is somebody's: their name, their address. The log keeps it sealed under a key of theirs, so that they can be
 * forgotten (ADR 25).
 */
export type PersonalText = {
  /** Where it stands, key by key. */
  readonly at: readonly string[];
  /** Whose it is: the id of a user. */
  readonly person: string;
  /** What is read in its place once they are forgotten: their id in that of a name, null in that of a detail. */
  readonly kind: 'name' | 'detail';
};

/** Who did or has something, as events and states name them. Only users are people: teams and runs keep their names. */
export type Principal = { readonly type: string; readonly id: string; readonly name: string };

/** Somebody as a caller sees them: without a name if they are a team that the caller may not see. */
export type VisiblePrincipal = Omit<Principal, 'name'> & { readonly name: string | null };

/** Of an event's data, under whose key `at` somebody stands. */
export const describePersonalName = (at: string, { type, id }: Omit<Principal, 'name'>): readonly PersonalText[] =>
  type === 'users' ? [{ at: [at, 'name'], person: id, kind: 'name' }] : [];

/** Of an event's data that says whom it is about. */
export const describeUsername = ({ user }: { readonly user: string }): readonly PersonalText[] => [
  { at: ['username'], person: user, kind: 'name' },
];

/** The person whom a state names; nobody where it is a team, or somebody who was forgotten. */
export const listNamedPeople = (named: Principal | null | undefined): readonly string[] =>
  named?.type === 'users' && named.name !== named.id ? [named.id] : [];

/**
 * A column of a view in which people are named: it holds { type, id, name }, at its root or at `at`; or the name alone, and
 * the column `id` says whose it is. Who is forgotten is named by their id there (libs/personal-data/name-eraser.ts).
 */
export type NameColumn = { readonly table: string; readonly column: string } & (
  { readonly at?: readonly string[] } | { readonly id: string }
);

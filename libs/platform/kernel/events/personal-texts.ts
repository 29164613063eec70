/**
 * A text that belongs to a person, such as a name or an address. The log stores it encrypted with a key of that person,
 * so that the person can be forgotten (ADR 25).
 */
export type PersonalText = {
  /** Path of the text in the event's data, key by key. */
  readonly at: readonly string[];
  /** The id of the user that the text belongs to. */
  readonly person: string;
  /** Determines the value after the person was forgotten: their id for a name, null for a detail. */
  readonly kind: 'name' | 'detail';
};

/** A caller, owner or holder, as events and states name it. Only users are people: teams and runs keep their names. */
export type Principal = { readonly type: string; readonly id: string; readonly name: string };

/** A principal as a caller sees it. The name is null for a team that the caller may not see. */
export type VisiblePrincipal = Omit<Principal, 'name'> & { readonly name: string | null };

/** Describes the name of the principal under the key `at` of an event's data. */
export const describePersonalName = (at: string, { type, id }: Omit<Principal, 'name'>): readonly PersonalText[] =>
  type === 'users' ? [{ at: [at, 'name'], person: id, kind: 'name' }] : [];

/** Describes `username` of an event whose data has the id of the user in `user`. */
export const describeUsername = ({ user }: { readonly user: string }): readonly PersonalText[] => [
  { at: ['username'], person: user, kind: 'name' },
];

/** Returns the id of the user that a state names; none for a team and for a user who was forgotten. */
export const listNamedPeople = (principal: Principal | null | undefined): readonly string[] =>
  principal?.type === 'users' && principal.name !== principal.id ? [principal.id] : [];

/**
 * A column of a view that contains names of people. Either the column contains { type, id, name }, at its root or at
 * the path `at`. Or it contains the name alone, and the column `id` contains the id of the user. When a person is
 * forgotten, their id replaces the name (libs/storage/personal-data/name-eraser.ts).
 */
export type NameColumn = { readonly table: string; readonly column: string } & (
  { readonly at?: readonly string[] } | { readonly id: string }
);

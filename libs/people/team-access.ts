import { attributeOf, labelOf, Refused } from '#kernel';

/** What a team has at a place: a level, and where that is `custom` what its fields say. */
export type Terms<Level extends string, Fields> = { readonly access: Level; readonly custom: Fields | null };

type Values = Readonly<Record<string, unknown>>;

/** Fields as a request names them: any of them, also of the groups among them. */
export type Named<Fields> = {
  readonly [F in keyof Fields]?: (Fields[F] extends object ? Named<Fields[F]> : Fields[F]) | undefined;
};

/** What levels mean at one kind of place, and how the API calls the fields. */
export type Scale<Level extends string, Fields> = {
  readonly meaning: Readonly<Record<Exclude<Level, 'custom'>, Fields>>;
  /** What `custom` gives where nobody says more. */
  readonly least: Fields;
  readonly pointer: (field: string, group: string | null) => string;
};

/** The team that is named, as it stands. */
export type NamedTeam = { readonly id: string; readonly name: string; readonly isOwners: boolean };

export const TEAM_POINTER = '/data/relationships/team/data/id';

const isGroup = (value: unknown): value is Values => typeof value === 'object' && value !== null;

/** What is named takes the place of what was; names that no field has are left out. */
const merged = (before: Values, named: Values): Values =>
  Object.fromEntries(
    Object.entries(before).map(([field, value]) => {
      const given = named[field];
      if (given === undefined) return [field, value];
      return [field, isGroup(value) && isGroup(given) ? merged(value, given) : given];
    }),
  );

/** Every field that is named, with the group that it stands in. */
const fieldsIn = (named: Values, group: string | null = null): (readonly [field: string, group: string | null])[] =>
  Object.entries(named).flatMap(([field, value]) => {
    if (value === undefined) return [];
    return isGroup(value) ? fieldsIn(value, field) : [[field, group] as const];
  });

/** Refuses fields beside a level other than `custom`; without a level nothing. The text is one in use (clients.md §2). */
export const checkFields = <L extends string, F extends object>(
  access: L | null | undefined,
  named: Named<F>,
  scale: Scale<L, F>,
): void => {
  if (!access || access === 'custom') return;
  const problems = fieldsIn(named).map(([field, group]) => ({
    detail: `${labelOf(attributeOf(field))} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`,
    pointer: scale.pointer(field, group),
  }));
  if (problems.length > 0) throw new Refused('unprocessable', problems);
};

/**
 * What a team has after a request that names a level, fields or both. Who goes from a fixed level to `custom` starts at
 * what that level meant.
 */
export const termsAfter = <L extends string, F extends object>(
  before: Terms<L, F> | null,
  access: L,
  named: Named<F>,
  scale: Scale<L, F>,
): Terms<L, F> => {
  checkFields(access, named, scale);
  if (access !== 'custom') {
    return { access, custom: null };
  }
  const start = before === null ? scale.least : meaningOf(before, scale);
  return { access, custom: merged(start as Values, named as Values) as F };
};

/** Every field, whether the level says it or `custom` does. */
export const meaningOf = <L extends string, F>({ access, custom }: Terms<L, F>, { meaning }: Scale<L, F>): F =>
  custom ?? meaning[access as Exclude<L, 'custom'>];

/** Fields stand in the order of those before them (`merged`), so that their texts can be compared. */
export const isSame = <L extends string, F>(one: Terms<L, F>, other: Terms<L, F>): boolean =>
  one.access === other.access && JSON.stringify(one.custom) === JSON.stringify(other.custom);

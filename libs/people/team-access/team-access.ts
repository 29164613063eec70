import { toAttributeName, toLabel, Refusal, unprocessable } from '#kernel';

/** What a team has at a place: a level, and where that is `custom` what its fields say. */
export type AccessTerms<Level extends string, Fields> = { readonly access: Level; readonly custom: Fields | null };

type FieldValues = Readonly<Record<string, unknown>>;

/** Fields as a request names them: any of them, also of the groups among them. */
export type NamedFields<Fields> = {
  readonly [F in keyof Fields]?: (Fields[F] extends object ? NamedFields<Fields[F]> : Fields[F]) | undefined;
};

/** What levels mean at one kind of place, and how the API calls the fields. */
export type AccessScale<Level extends string, Fields> = {
  readonly permissionsByLevel: Readonly<Record<Exclude<Level, 'custom'>, Fields>>;
  /** What `custom` gives where nobody says more. */
  readonly least: Fields;
  readonly pointer: (field: string, group: string | null) => string;
};

/** The team that is named, as it stands. */
export type ReferencedTeam = { readonly id: string; readonly name: string; readonly isOwners: boolean };

export const TEAM_POINTER = '/data/relationships/team/data/id';

/** Refuses an access for the owners team, which has every permission already. */
export const refuseOwnersTeam = ({ isOwners }: ReferencedTeam, target: 'project' | 'workspace'): void => {
  if (isOwners) throw unprocessable(`The owners team has access to every ${target} already`, TEAM_POINTER);
};

const isGroup = (value: unknown): value is FieldValues => typeof value === 'object' && value !== null;

/** What is named takes the place of what was; names that no field has are left out. */
const mergeFields = (before: FieldValues, named: FieldValues): FieldValues =>
  Object.fromEntries(
    Object.entries(before).map(([field, value]) => {
      const given = named[field];
      if (given === undefined) return [field, value];
      return [field, isGroup(value) && isGroup(given) ? mergeFields(value, given) : given];
    }),
  );

/** Every field that is named, with the group that it stands in. */
const listNamedFields = (
  named: FieldValues,
  group: string | null = null,
): (readonly [field: string, group: string | null])[] =>
  Object.entries(named).flatMap(([field, value]) => {
    if (value === undefined) return [];
    return isGroup(value) ? listNamedFields(value, field) : [[field, group] as const];
  });

/** Refuses fields beside a level other than `custom`; without a level nothing. The text is one in use (clients.md §2). */
export const checkFields = <L extends string, F extends object>(
  access: L | null | undefined,
  named: NamedFields<F>,
  scale: AccessScale<L, F>,
): void => {
  if (!access || access === 'custom') return;
  const problems = listNamedFields(named).map(([field, group]) => ({
    detail: `${toLabel(toAttributeName(field))} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`,
    pointer: scale.pointer(field, group),
  }));
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/**
 * What a team has after a request that names a level, fields or both. Who goes from a fixed level to `custom` starts at
 * what that level meant.
 */
export const computeAccessTerms = <L extends string, F extends object>(
  before: AccessTerms<L, F> | null,
  access: L,
  named: NamedFields<F>,
  scale: AccessScale<L, F>,
): AccessTerms<L, F> => {
  checkFields(access, named, scale);
  if (access !== 'custom') {
    return { access, custom: null };
  }
  const start = before === null ? scale.least : expandAccess(before, scale);
  return { access, custom: mergeFields(start as FieldValues, named as FieldValues) as F };
};

/** Every field, whether the level says it or `custom` does. */
export const expandAccess = <L extends string, F>(
  { access, custom }: AccessTerms<L, F>,
  { permissionsByLevel }: AccessScale<L, F>,
): F => custom ?? permissionsByLevel[access as Exclude<L, 'custom'>];

/** Fields stand in the order of those before them (`merged`), so that their texts can be compared. */
export const isSameAccess = <L extends string, F>(one: AccessTerms<L, F>, other: AccessTerms<L, F>): boolean =>
  one.access === other.access && JSON.stringify(one.custom) === JSON.stringify(other.custom);

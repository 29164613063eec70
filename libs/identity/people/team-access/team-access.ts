import { toAttributeName, toLabel, Refusal, unprocessable } from '#platform/kernel';

/** A team's access to a target: a level, and the fields if the level is `custom`. */
export type AccessTerms<Level extends string, Fields> = { readonly access: Level; readonly custom: Fields | null };

type FieldValues = Readonly<Record<string, unknown>>;

/** Fields of a request: any subset, also within groups. */
export type NamedFields<Fields> = {
  readonly [F in keyof Fields]?: (Fields[F] extends object ? NamedFields<Fields[F]> : Fields[F]) | undefined;
};

/** Meaning of the levels for one kind of target, and the names of the fields in the API. */
export type AccessScale<Level extends string, Fields> = {
  readonly permissionsByLevel: Readonly<Record<Exclude<Level, 'custom'>, Fields>>;
  /** Fields of `custom` access if the request names none. */
  readonly least: Fields;
  readonly pointer: (field: string, group: string | null) => string;
};

/** The team of a request, with its present name. */
export type ReferencedTeam = { readonly id: string; readonly name: string; readonly isOwners: boolean };

export const TEAM_POINTER = '/data/relationships/team/data/id';

/** Refuses access for the owners team, which has every permission already. */
export const refuseOwnersTeam = ({ isOwners }: ReferencedTeam, target: 'project' | 'workspace'): void => {
  if (isOwners) throw unprocessable(`The owners team has access to every ${target} already`, TEAM_POINTER);
};

const isGroup = (value: unknown): value is FieldValues => typeof value === 'object' && value !== null;

/** Replaces the named fields. Ignores names that are not fields. */
const mergeFields = (before: FieldValues, changes: FieldValues): FieldValues =>
  Object.fromEntries(
    Object.entries(before).map(([field, value]) => {
      const change = changes[field];
      if (change === undefined) return [field, value];
      return [field, isGroup(value) && isGroup(change) ? mergeFields(value, change) : change];
    }),
  );

/** Returns every named field with its group. */
const listNamedFields = (
  fields: FieldValues,
  group: string | null = null,
): (readonly [field: string, group: string | null])[] =>
  Object.entries(fields).flatMap(([field, value]) => {
    if (value === undefined) return [];
    return isGroup(value) ? listNamedFields(value, field) : [[field, group] as const];
  });

/**
 * Refuses fields beside a fixed level. Accepts any fields if the level is `custom` or missing. Clients know the text.
 */
export const checkFields = <L extends string, F extends object>(
  access: L | null | undefined,
  fields: NamedFields<F>,
  scale: AccessScale<L, F>,
): void => {
  if (!access || access === 'custom') return;
  const problems = listNamedFields(fields).map(([field, group]) => ({
    detail: `${toLabel(toAttributeName(field))} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`,
    pointer: scale.pointer(field, group),
  }));
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/**
 * Returns a team's access after a request that names a level, fields or both. Switching to `custom` starts from the
 * fields of the old level.
 */
export const computeAccessTerms = <L extends string, F extends object>(
  before: AccessTerms<L, F> | null,
  access: L,
  fields: NamedFields<F>,
  scale: AccessScale<L, F>,
): AccessTerms<L, F> => {
  checkFields(access, fields, scale);
  if (access !== 'custom') {
    return { access, custom: null };
  }
  const start = before === null ? scale.least : expandAccess(before, scale);
  return { access, custom: mergeFields(start as FieldValues, fields as FieldValues) as F };
};

/** Returns every field, from `custom` or from the meaning of the level. */
export const expandAccess = <L extends string, F>(
  { access, custom }: AccessTerms<L, F>,
  { permissionsByLevel }: AccessScale<L, F>,
): F => custom ?? permissionsByLevel[access as Exclude<L, 'custom'>];

/** Returns whether two accesses are equal. It compares texts, because `mergeFields` keeps the order of the fields. */
export const isSameAccess = <L extends string, F>(one: AccessTerms<L, F>, other: AccessTerms<L, F>): boolean =>
  one.access === other.access && JSON.stringify(one.custom) === JSON.stringify(other.custom);

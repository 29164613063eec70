import { Refusal } from '#platform/kernel';

/** Filter of entries. An entry must match any value of each list. An empty list matches everything. */
export type TrailEntryFilter = {
  readonly resourceType: readonly string[];
  readonly action: readonly string[];
  /** Ids of actors, or names under which they have acted. */
  readonly actor: readonly string[];
  readonly resourceId: readonly string[];
};

export const UNFILTERED: TrailEntryFilter = { resourceType: [], action: [], actor: [], resourceId: [] };

type FilterRule = { readonly parameter: string; readonly form: RegExp; readonly otherwise: string };

const WORDS = { form: /^[a-z][a-z0-9_-]{0,99}$/, otherwise: 'words such as workspace or team_project' };
const ANYTHING = { form: /^[^\p{Cc}]{1,500}$/u, otherwise: 'texts of at most 500 characters' };

/** Types and actions are not checked against the catalogue, because other services report entries of their own. */
const RULES: Readonly<Record<keyof TrailEntryFilter, FilterRule>> = {
  resourceType: { parameter: 'filter[resource-type]', ...WORDS },
  action: { parameter: 'filter[action]', ...WORDS },
  actor: { parameter: 'filter[actor]', ...ANYTHING },
  resourceId: { parameter: 'filter[resource-id]', ...ANYTHING },
};

/** The query parameters of the filter. */
export const TRAIL_FILTERS = Object.values(RULES).map(({ parameter }) => parameter);

const createFilterRefusal = (detail: string, parameter: string): Refusal =>
  new Refusal('unprocessable', [{ detail, parameter }]);

/** `valuesOf` returns the values of a list parameter; undefined if the parameter is missing or empty. */
export const parseTrailEntryFilter = (
  valuesOf: (parameter: string) => readonly string[] | undefined,
): TrailEntryFilter => {
  const listed = (key: keyof TrailEntryFilter): readonly string[] => {
    const { parameter, form, otherwise } = RULES[key];
    const values = valuesOf(parameter);
    if (!values) return [];
    if (values.length === 0 || !values.every((value) => form.test(value))) {
      throw createFilterRefusal(`${parameter} must be a comma-separated list of ${otherwise}`, parameter);
    }
    return values;
  };
  return {
    resourceType: listed('resourceType'),
    action: listed('action'),
    actor: listed('actor'),
    resourceId: listed('resourceId'),
  };
};

export const isFiltered = (filter: TrailEntryFilter): boolean =>
  Object.values(filter).some((values) => values.length > 0);

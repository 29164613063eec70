import { Refusal } from '#kernel';

/** What a reader wants to see only; a list that is empty asks for nothing. Of one list any, of all lists together all. */
export type TrailEntryFilter = {
  readonly resourceType: readonly string[];
  readonly action: readonly string[];
  /** Ids of who acted, or names that they have acted under. */
  readonly actor: readonly string[];
  readonly resourceId: readonly string[];
};

export const UNFILTERED: TrailEntryFilter = { resourceType: [], action: [], actor: [], resourceId: [] };

type FilterRule = { readonly parameter: string; readonly form: RegExp; readonly otherwise: string };

const WORDS = { form: /^[a-z][a-z0-9_-]{0,99}$/, otherwise: 'words such as workspace or team_project' };
const ANYTHING = { form: /^[^\p{Cc}]{1,500}$/u, otherwise: 'texts of at most 500 characters' };

/** The catalogue's types and actions are not looked up: other services tell of theirs. */
const RULES: Readonly<Record<keyof TrailEntryFilter, FilterRule>> = {
  resourceType: { parameter: 'filter[resource-type]', ...WORDS },
  action: { parameter: 'filter[action]', ...WORDS },
  actor: { parameter: 'filter[actor]', ...ANYTHING },
  resourceId: { parameter: 'filter[resource-id]', ...ANYTHING },
};

const createFilterRefusal = (detail: string, parameter: string): Refusal =>
  new Refusal('unprocessable', [{ detail, parameter }]);

/** `valuesOf` gives the values of a parameter's list; undefined where it was not sent, or without any value. */
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

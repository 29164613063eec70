import { toAttributeName, toPropertyName, type SubjectData } from '#platform/kernel';

/** Properties that documents show under other names or not at all. All others have the names of the API. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  lock: ['locked', 'locked-by', 'locked-reason'],
  tags: ['tag-bindings'],
  variables: ['vars'],
  currentConfigurationSince: [],
  stateChangedAt: [],
  createdAt: [],
  updatedAt: [],
};

/**
 * Fields that change when a state is uploaded. The history shows the change when that state becomes the current one.
 */
export const HIDDEN_FIELDS: readonly string[] = ['latest-change-at'];

/** Attributes that documents show under two names or in another form, by the one field that the history has. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['iac-version', 'terraform-version'],
  ['operations', 'execution-mode'],
  ['tag-names', 'tag-bindings'],
]);

/** Returns the field of the history for an attribute of the document. */
export const toHistoryField = (attribute: string): string => SYNONYMS.get(attribute) ?? attribute;

type LockData = { readonly holder: object; readonly reason: string } | null;
type TagData = readonly { readonly key: string; readonly value: string | null }[];
type PolicyData = { readonly type: string; readonly id: string; readonly days: number | null } | null;

/** Values of fields that differ from the property in the data. */
const VALUES: Readonly<Record<string, (data: SubjectData) => unknown>> = {
  locked: ({ lock }) => lock !== null,
  'locked-by': ({ lock }) => (lock as LockData)?.holder ?? null,
  'locked-reason': ({ lock }) => (lock as LockData)?.reason ?? null,
  // A flat tag is a binding with an empty value. Projects are created without the property.
  'tag-bindings': ({ tags = [] }) => (tags as TagData).map(({ key, value }) => ({ key, value: value ?? '' })),
  vars: ({ variables }) => variables,
  'data-retention-policy': ({ dataRetentionPolicy }) => {
    const policy = dataRetentionPolicy as PolicyData;
    return policy && { type: policy.type, id: policy.id, 'delete-older-than-n-days': policy.days };
  },
};

/** Renames the properties of an object to their names in the API. */
const toApiValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [toAttributeName(key), member]))
    : value;

const getFieldValue = (data: SubjectData | null, field: string): unknown => {
  if (data === null) return null;
  const value = VALUES[field];
  return value ? value(data) : (toApiValue(data[toPropertyName(field)]) ?? null);
};

/** Returns all fields of the data, sorted. */
export const listFields = (...data: readonly (SubjectData | null)[]): readonly string[] =>
  [...new Set(data.flatMap((one) => Object.keys(one ?? {})))]
    .flatMap((key) => FIELDS[key] ?? [toAttributeName(key)])
    .toSorted();

/** Returns the fields of these properties whose values differ. */
export const listChangedFields = (
  before: SubjectData | null,
  after: SubjectData,
  keys: readonly string[],
): readonly string[] =>
  keys
    .flatMap((key) => FIELDS[key] ?? [toAttributeName(key)])
    .filter((field) => JSON.stringify(getFieldValue(before, field)) !== JSON.stringify(getFieldValue(after, field)))
    .toSorted();

export type FieldChange = { readonly field: string; readonly from: unknown; readonly to: unknown };

export const listFieldChanges = (
  before: SubjectData | null,
  after: SubjectData,
  fields: readonly string[],
): readonly FieldChange[] =>
  fields.map((field) => ({ field, from: getFieldValue(before, field), to: getFieldValue(after, field) }));

import { toAttributeName, toPropertyName } from '#kernel';

/** The properties of a subject, such as a workspace, at some time. */
export type SubjectData = Readonly<Record<string, unknown>>;

/** What of the data documents show under other names, or not at all. All the rest is called as the API calls it. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  lock: ['locked', 'locked-by', 'locked-reason'],
  tags: ['tag-bindings'],
  variables: ['vars'],
  currentConfigurationSince: [],
  createdAt: [],
  updatedAt: [],
};

/** What follows from the coming of a state, which is told when it becomes the current one. */
export const HIDDEN_FIELDS: readonly string[] = ['latest-change-at'];

/** What documents show under two names, or in another form, is kept once. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['iac-version', 'terraform-version'],
  ['operations', 'execution-mode'],
  ['tag-names', 'tag-bindings'],
]);

/** The field of history that an attribute of the document is kept as. */
export const toHistoryField = (attribute: string): string => SYNONYMS.get(attribute) ?? attribute;

type LockData = { readonly holder: object; readonly reason: string } | null;
type TagData = readonly { readonly key: string; readonly value: string | null }[];
type PolicyData = { readonly type: string; readonly id: string; readonly days: number | null } | null;

/** Values that are not in the data as documents show them. */
const VALUES: Readonly<Record<string, (data: SubjectData) => unknown>> = {
  locked: ({ lock }) => lock !== null,
  'locked-by': ({ lock }) => (lock as LockData)?.holder ?? null,
  'locked-reason': ({ lock }) => (lock as LockData)?.reason ?? null,
  // A flat tag shows as a binding with an empty value (clients.md §7). Projects are born without a word of any.
  'tag-bindings': ({ tags = [] }) => (tags as TagData).map(({ key, value }) => ({ key, value: value ?? '' })),
  vars: ({ variables }) => variables,
  'data-retention-policy': ({ dataRetentionPolicy }) => {
    const policy = dataRetentionPolicy as PolicyData;
    return policy && { type: policy.type, id: policy.id, 'delete-older-than-n-days': policy.days };
  },
};

/** Settings that are objects have members, which the API calls its own way, too. */
const toApiValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [toAttributeName(key), member]))
    : value;

/** What a field shows; null where there is nothing to show. */
const getFieldValue = (data: SubjectData | null, field: string): unknown => {
  if (data === null) return null;
  const value = VALUES[field];
  return value ? value(data) : (toApiValue(data[toPropertyName(field)]) ?? null);
};

/** The fields that really differ, of those that these keys are about. */
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

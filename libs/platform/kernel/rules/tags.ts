import { runAllChecks, unprocessable } from '../errors/refusal.js';

/**
 * A tag of a workspace or project. `value` is null for a flat tag, which only workspaces have. It is empty for a
 * binding without a value, whether the request omits the value, sends null or sends an empty text. Each
 * key appears once, in order of insertion.
 */
export type Tag = { readonly key: string; readonly value: string | null };

const FLAT = /^[A-Za-z0-9:_-]{1,255}$/;
const MAX_TAGS_PER_REQUEST = 500;
const KEY = /^[A-Za-z0-9_.=+@: -]{1,128}$/;
const MAX_BINDINGS = 10;
const MAX_VALUE = 256;

/** JSON pointers to the bindings and the flat tags in the body of a request. */
export const BINDING_POINTERS = {
  bindings: '/data/relationships/tag-bindings/data',
  tags: '/data/relationships/tags/data',
} as const;

/**
 * Returns the pointer to the last binding with this key in a list. If a list repeats a key, the last binding applies.
 */
export const buildKeyPointer = (list: string, bindings: readonly Tag[], key: string): string =>
  `${list}/${bindings.findLastIndex((binding) => binding.key === key)}/attributes/key`;

/** Checks the key of a binding or of a reserved tag key. */
export const checkTagKey = (key: string, pointer: string): void => {
  if (key.trim() === '') throw unprocessable("Key can't be blank", pointer);
  if (!KEY.test(key)) throw unprocessable('Key is invalid', pointer);
};

/**
 * Checks each binding of a request; `pointer` is the JSON pointer to their list. Clients send flat tags as bindings
 * without a value, so such a binding may have the longer name of a flat tag and does not count towards the limit of
 * ten.
 */
export const checkBindings = (bindings: readonly Tag[], pointer: string): void => {
  checkTagCount(bindings.length, pointer);
  checkBindingLimit(bindings, pointer);
  const checks = bindings.flatMap(({ key, value }, index) => [
    () => {
      if (value || !FLAT.test(key)) checkTagKey(key, `${pointer}/${index}/attributes/key`);
    },
    () => checkValue(value ?? '', `${pointer}/${index}/attributes/value`),
  ]);
  runAllChecks(...checks);
};

const checkValue = (value: string, pointer: string): void => {
  if (value.length > MAX_VALUE) throw unprocessable('Value is too long (at most 256 characters)', pointer);
};

/**
 * Returns whether a tag has no value. The API shows and removes such a tag by its name like a flat tag, even if it is a
 * binding.
 */
export const isValueless = ({ value }: Tag): boolean => !value;

export const indexTagsByKey = (tags: readonly Tag[]): ReadonlyMap<string, Tag> =>
  new Map(tags.map((tag) => [tag.key, tag]));

/** Returns every key once, at its first position and with its last value. */
export const mergeTags = (tags: readonly Tag[], added: readonly Tag[] = []): readonly Tag[] => [
  ...indexTagsByKey([...tags, ...added].map(({ key, value }) => ({ key, value }))).values(),
];

export const removeTags = (tags: readonly Tag[], keys: readonly string[]): readonly Tag[] => {
  const removedKeys = new Set(keys);
  return tags.filter(({ key }) => !removedKeys.has(key));
};

/** The value of a tag before and after a request: null for no tag, empty for a tag without a value. */
export type BindingChange = { readonly key: string; readonly from: string | null; readonly to: string | null };

/**
 * `adding` adds bindings to the present tags and overwrites equal keys; `replacing` replaces the present bindings.
 * `removing` removes the present tags of these keys; a binding with a value removes only a tag with the same value.
 */
export type BindingMode = 'adding' | 'replacing' | 'removing';

/**
 * Returns the changes that bindings make to the present tags, one entry for each key. A flat tag that the request names
 * without a value stays flat.
 *
 * A replacing list leaves flat tags alone: the Terraform provider sends only the bindings of a workspace whose flat
 * tags it manages through another path, and an empty list for `tags = {}`. A list that names a flat tag comes from a
 * client that manages flat tags as bindings, so the list replaces the flat tags too.
 */
export const computeBindingChanges = (
  tags: readonly Tag[],
  bindings: readonly Tag[],
  how: BindingMode,
): readonly BindingChange[] => {
  if (how === 'removing') return computeRemovals(tags, bindings);
  const there = indexTagsByKey(tags);
  const bound = mergeTags(bindings);
  const boundByKey = indexTagsByKey(bound);
  const replacesFlat = bound.some((tag) => isValueless(tag) && there.get(tag.key)?.value === null);
  const isReplaced = ({ key, value }: Tag): boolean => !boundByKey.has(key) && (value !== null || replacesFlat);
  const removed = how === 'adding' ? [] : tags.filter(isReplaced);
  const changed = bound.filter((tag) => toBindingValue(there.get(tag.key)) !== toBindingValue(tag));
  return [
    ...removed.map((tag) => ({ key: tag.key, from: toBindingValue(tag), to: null })),
    ...changed.map((tag) => ({ key: tag.key, from: toBindingValue(there.get(tag.key)), to: toBindingValue(tag) })),
  ];
};

const computeRemovals = (tags: readonly Tag[], bindings: readonly Tag[]): readonly BindingChange[] => {
  const unwanted = indexTagsByKey(bindings);
  const isRemoved = ({ key, value }: Tag): boolean => {
    const binding = unwanted.get(key);
    return binding !== undefined && (isValueless(binding) || binding.value === value);
  };
  return tags.filter(isRemoved).map((tag) => ({ key: tag.key, from: toBindingValue(tag), to: null }));
};

const toBindingValue = (tag: Tag | undefined): string | null => (tag ? (tag.value ?? '') : null);

/** Returns the tags after these changes. */
export const applyBindingChanges = (tags: readonly Tag[], changes: readonly BindingChange[]): readonly Tag[] =>
  changes.reduce<readonly Tag[]>(
    (all, { key, to }) => (to === null ? removeTags(all, [key]) : mergeTags(all, [{ key, value: to }])),
    tags,
  );

/** Refuses more than ten bindings with a value. */
export const checkBindingLimit = (tags: readonly Tag[], pointer: string): void => {
  checkBindingCount(tags.filter((tag) => !isValueless(tag)).length, pointer);
};

export const checkBindingCount = (bindings: number, pointer: string): void => {
  if (bindings > MAX_BINDINGS) throw unprocessable(`cannot exceed ${MAX_BINDINGS} bindings per resource`, pointer);
};

export const checkTagCount = (tags: number, pointer: string): void => {
  if (tags > MAX_TAGS_PER_REQUEST) {
    throw unprocessable(`cannot exceed ${MAX_TAGS_PER_REQUEST} tags per request`, pointer);
  }
};

/**
 * Checks the name of a flat tag. `pointer` is the JSON pointer to the name in the
 * request.
 */
export const checkFlatTag = (name: string, pointer: string): void => {
  if (name === '') throw unprocessable("Name can't be blank", pointer);
  if (!FLAT.test(name)) {
    const text = 'Name may only contain letters, numbers, colons, hyphens and underscores, at most 255 of them';
    throw unprocessable(text, pointer);
  }
};

import { checkAll, unprocessable } from './refused.js';

/** A flat tag where `value` is null, else a key-value binding. A key appears once, in order of insertion. */
export type Tag = { readonly key: string; readonly value: string | null };

const FLAT = /^[A-Za-z0-9:_-]{1,255}$/;
const MOST = 500;
const KEY = /^[A-Za-z0-9_.=+@: -]{1,128}$/;
export const MAX_BINDINGS = 10;
const MAX_VALUE = 256;

/** Where bindings and flat tags stand in the body of what they are bound to. */
export const IN_OWNER = {
  bindings: '/data/relationships/tag-bindings/data',
  tags: '/data/relationships/tags/data',
} as const;

/** Where a list of bindings says that about a key which counts: of two the later one does. */
export const placeOfKey = (list: string, bindings: readonly Tag[], key: string): string =>
  `${list}/${bindings.findLastIndex((binding) => binding.key === key)}/attributes/key`;

/** Of bindings and of what is reserved (clients.md §3). */
export const checkTagKey = (key: string, pointer: string): void => {
  if (key.trim() === '') throw unprocessable("Key can't be blank", pointer);
  if (!KEY.test(key)) throw unprocessable('Key is invalid', pointer);
};

/** The rules of each; `pointer` says where in the request the list stood. */
export const checkBindings = (bindings: readonly Tag[], pointer: string): void => {
  if (bindings.length > MAX_BINDINGS) throw unprocessable('cannot exceed 10 bindings per resource', pointer);
  const checks = bindings.flatMap(({ key, value }, index) => [
    () => checkTagKey(key, `${pointer}/${index}/attributes/key`),
    () => checkValue(value ?? '', `${pointer}/${index}/attributes/value`),
  ]);
  checkAll(...checks);
};

const checkValue = (value: string, pointer: string): void => {
  if (value.length > MAX_VALUE) throw unprocessable('Value is too long (at most 256 characters)', pointer);
};

export const bindingsAmong = (tags: readonly Tag[]): readonly Tag[] => tags.filter(({ value }) => value !== null);

export const tagsByKey = (tags: readonly Tag[]): ReadonlyMap<string, Tag> => new Map(tags.map((tag) => [tag.key, tag]));

/** Every key once, at its first place and with its last value. */
export const mergeTags = (tags: readonly Tag[], added: readonly Tag[] = []): readonly Tag[] => [
  ...tagsByKey([...tags, ...added].map(({ key, value }) => ({ key, value }))).values(),
];

export const withoutTags = (tags: readonly Tag[], keys: readonly string[]): readonly Tag[] => {
  const gone = new Set(keys);
  return tags.filter(({ key }) => !gone.has(key));
};

/** A binding as it was and as it is to be, where that differs; null: there was none, or there is to be none. */
export type BindingChange = { readonly key: string; readonly from: string | null; readonly to: string | null };

/** To those that are there, or overwriting by key; or in place of all of them. */
export type BindingsHow = 'adding' | 'replacing';

/** What bindings change of those that are there; each fact by itself. */
export const bindingChanges = (
  tags: readonly Tag[],
  wanted: readonly Tag[],
  how: BindingsHow,
): readonly BindingChange[] => {
  const there = tagsByKey(tags);
  const bound = mergeTags(wanted);
  const kept = tagsByKey(bound);
  const gone = how === 'adding' ? [] : bindingsAmong(tags).filter(({ key }) => !kept.has(key));
  const changed = bound.filter(({ key, value }) => there.get(key)?.value !== value);
  return [
    ...gone.map(({ key, value }) => ({ key, from: value, to: null })),
    ...changed.map(({ key, value }) => ({ key, from: there.get(key)?.value ?? null, to: value })),
  ];
};

/** How the tags stand after these changes. */
export const withBindings = (tags: readonly Tag[], changes: readonly BindingChange[]): readonly Tag[] =>
  changes.reduce<readonly Tag[]>(
    (all, { key, to }) => (to === null ? withoutTags(all, [key]) : mergeTags(all, [{ key, value: to }])),
    tags,
  );

export const checkBindingsRoom = (tags: readonly Tag[], pointer: string): void => {
  if (bindingsAmong(tags).length > MAX_BINDINGS) throw unprocessable('cannot exceed 10 bindings per resource', pointer);
};

export const checkNumber = (tags: number, pointer: string): void => {
  if (tags > MOST) throw unprocessable(`cannot exceed ${MOST} tags per request`, pointer);
};

/** Rules of clients.md §3; `pointer` says where in the request the name stood. */
export const checkFlatTag = (name: string, pointer: string): void => {
  if (name === '') throw unprocessable("Name can't be blank", pointer);
  if (!FLAT.test(name)) {
    const text = 'Name may only contain letters, numbers, colons, hyphens and underscores, at most 255 of them';
    throw unprocessable(text, pointer);
  }
};

import {
  bindingChanges,
  bindingsAmong,
  checkBindingsRoom,
  IN_OWNER,
  mergeTags,
  placeOfKey,
  Refused,
  tagsByKey,
  unprocessable,
  withBindings,
  withoutTags,
  type BindingChange,
  type BindingsHow,
  type Message,
  type Table,
  type Tag,
} from '#kernel';
import type { ActiveWorkspace, Workspace } from './workspace.js';

/** Each fact by itself: a PATCH of three bindings is three of them. */
export type TagEvent =
  | Message<'WorkspaceTagAdded', { name: string }>
  | Message<'WorkspaceTagRemoved', { name: string }>
  /** `from` null: there was none with that key, or a flat tag. */
  | Message<'WorkspaceTagBound', { key: string; from: string | null; to: string }>
  | Message<'WorkspaceTagUnbound', { key: string; from: string }>
  | FormerTagEvent;

/** How logs told it once, several at a time and without what was before. Nothing yields them any more. */
type FormerTagEvent =
  Message<'WorkspaceTagged', { tags: readonly Tag[] }> | Message<'WorkspaceUntagged', { keys: readonly string[] }>;

/** A key that the project binds, and that is reserved with overrides disabled: workspaces in it may not bind it. */
export type FixedKey = {
  readonly key: string;
  /** The project's name. */
  readonly project: string;
  /** The reserved tag key, `rtk-…`. */
  readonly reservedTagKey: string;
};

export type TagCommand =
  /** Flat tags; one that is there already is ignored. `at`: where the request asks for them, unless they are its data. */
  | Message<'AddTags', { names: readonly string[]; at?: string; fixed?: readonly FixedKey[] }>
  | Message<'RemoveTags', { names: readonly string[] }>
  | Message<'BindTags', { bindings: readonly Tag[]; how: BindingsHow; fixed?: readonly FixedKey[] }>;

/** A workspace is one event and one snapshot: neither may grow without end. */
const MAX_TAGS = 500;

/**
 * What is newly set may not override what the project fixes; what stands already stays (clients.md §3). `placeOf` says
 * where the request names a key.
 */
export const checkOverrides = (
  keys: readonly string[],
  fixed: readonly FixedKey[],
  placeOf: (key: string) => string,
): void => {
  const wanted = new Set(keys);
  const overridden = fixed.filter(({ key }) => wanted.has(key));
  if (overridden.length === 0) return;
  throw new Refused(
    'unprocessable',
    overridden.map((one) => ({ detail: refusalOf(one), pointer: placeOf(one.key) })),
  );
};

const refusalOf = ({ key, project, reservedTagKey }: FixedKey): string =>
  `Key ${key} is bound by project ${project} and reserved with overrides disabled (${reservedTagKey}): ` +
  'workspaces in the project cannot bind it';

const checkFlatRoom = (tags: readonly Tag[]): void => {
  if (flatAmong(tags).length > MAX_TAGS) {
    throw unprocessable(`cannot exceed ${MAX_TAGS} tags per workspace`, '/data');
  }
};

const told = ({ key, from, to }: BindingChange): TagEvent =>
  to === null
    ? { type: 'WorkspaceTagUnbound', data: { key, from: from ?? '' } }
    : { type: 'WorkspaceTagBound', data: { key, from, to } };

/** Flat tags stay, unless a binding takes the place of one. `at`: where the bindings stand in the body of the request. */
export const bind = (
  tags: readonly Tag[],
  { bindings, how, at }: { readonly bindings: readonly Tag[]; readonly how: BindingsHow; readonly at: string },
  fixed: readonly FixedKey[],
): readonly TagEvent[] => {
  const changes = bindingChanges(tags, bindings, how);
  checkOverrides(boundBy(changes), fixed, (key) => placeOfKey(at, bindings, key));
  if (changes.length > 0) checkBindingsRoom(withBindings(tags, changes), at);
  return changes.map(told);
};

/** Where the document of a workspace names its project. */
const MOVED_AT = '/data/relationships/project/data/id';

const flatAmong = (tags: readonly Tag[]): readonly Tag[] => tags.filter(({ value }) => value === null);
const keysOf = (tags: readonly Tag[]): readonly string[] => tags.map(({ key }) => key);

/** Flat tags and bindings that a workspace is to be born with, each in the order of the request. */
export const checkBorn = (tags: readonly Tag[], fixed: readonly FixedKey[]): void => {
  const [bindings, names] = [bindingsAmong(tags), keysOf(flatAmong(tags))];
  checkOverrides(keysOf(tags), fixed, (key) =>
    keysOf(bindings).includes(key)
      ? placeOfKey(IN_OWNER.bindings, bindings, key)
      : `${IN_OWNER.tags}/${names.indexOf(key)}`,
  );
};

/** What a workspace takes along to another project is new there, however long it has stood. */
export const checkTaken = (
  tags: readonly Tag[],
  {
    bindings,
    movedAt = MOVED_AT,
  }: { readonly bindings: readonly Tag[] | undefined; readonly movedAt: string | undefined },
  fixed: readonly FixedKey[],
): void => {
  const taken = bindings ? [...flatAmong(tags), ...bindings] : tags;
  checkOverrides(keysOf(taken), fixed, (key) =>
    bindings && keysOf(bindings).includes(key) ? placeOfKey(IN_OWNER.bindings, bindings, key) : movedAt,
  );
};

const boundBy = (changes: readonly BindingChange[]): readonly string[] =>
  changes.flatMap(({ key, to }) => (to === null ? [] : [key]));

export const tagDecisions: Table<TagCommand, [state: ActiveWorkspace], readonly TagEvent[]> = {
  AddTags: ({ names, at, fixed = [] }, { tags }) => {
    const there = tagsByKey(tags);
    const absent = [...new Set(names)].filter((name) => !there.has(name));
    checkOverrides(absent, fixed, (key) => at ?? `/data/${names.indexOf(key)}`);
    if (absent.length > 0) checkFlatRoom(mergeTags(tags, absent.map(flat)));
    return absent.map((name) => ({ type: 'WorkspaceTagAdded', data: { name } }));
  },
  RemoveTags: ({ names }, { tags }) => {
    const unwanted = new Set(names);
    return tags
      .filter(({ key, value }) => value === null && unwanted.has(key))
      .map(({ key }) => ({ type: 'WorkspaceTagRemoved', data: { name: key } }));
  },
  BindTags: ({ bindings, how, fixed = [] }, { tags }) => bind(tags, { bindings, how, at: '/data' }, fixed),
};

const flat = (name: string): Tag => ({ key: name, value: null });

const withTags = (state: Workspace, change: (tags: readonly Tag[]) => readonly Tag[]): Workspace =>
  state.status === 'active' ? { ...state, tags: change(state.tags) } : state;

export const tagEvolutions: Table<TagEvent, [state: Workspace], Workspace> = {
  WorkspaceTagAdded: ({ name }, state) => withTags(state, (tags) => mergeTags(tags, [flat(name)])),
  WorkspaceTagRemoved: ({ name }, state) => withTags(state, (tags) => withoutTags(tags, [name])),
  WorkspaceTagBound: ({ key, to }, state) => withTags(state, (tags) => mergeTags(tags, [{ key, value: to }])),
  WorkspaceTagUnbound: ({ key }, state) => withTags(state, (tags) => withoutTags(tags, [key])),
  WorkspaceTagged: ({ tags: added }, state) => withTags(state, (tags) => mergeTags(tags, added)),
  WorkspaceUntagged: ({ keys }, state) => withTags(state, (tags) => withoutTags(tags, keys)),
};

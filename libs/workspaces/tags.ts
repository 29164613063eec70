import {
  bindingChanges,
  checkBindingsRoom,
  IN_OWNER,
  isValueless,
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
import type { ActiveWorkspace, Workspace } from './workspace-state.js';

/**
 * One event for each tag: a PATCH of three bindings yields three. Requests for flat tags and for bindings have their own
 * events; the removal of a flat tag is the same event from both.
 */
export type TagEvent =
  | Message<'WorkspaceTagAdded', { name: string }>
  | Message<'WorkspaceTagRemoved', { name: string }>
  /** `from`: null if the key had no tag; empty if its tag had no value, flat or not (older events have null for a flat tag). */
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

const checkFlatRoom = (tags: readonly Tag[], at: string): void => {
  if (tags.filter(isValueless).length > MAX_TAGS) {
    throw unprocessable(`cannot exceed ${MAX_TAGS} tags per workspace`, at);
  }
};

const eventOf = ({ key, from, to }: BindingChange, isFlat: boolean): TagEvent => {
  if (to !== null) return { type: 'WorkspaceTagBound', data: { key, from, to } };
  return isFlat
    ? { type: 'WorkspaceTagRemoved', data: { name: key } }
    : { type: 'WorkspaceTagUnbound', data: { key, from: from ?? '' } };
};

/** Returns the events of bindings that a request adds or replaces; `at` locates them in its body. */
export const bind = (
  tags: readonly Tag[],
  { bindings, how, at }: { readonly bindings: readonly Tag[]; readonly how: BindingsHow; readonly at: string },
  fixed: readonly FixedKey[],
): readonly TagEvent[] => {
  const changes = bindingChanges(tags, bindings, how);
  checkOverrides(boundBy(changes), fixed, (key) => placeOfKey(at, bindings, key));
  if (changes.length > 0) {
    const after = withBindings(tags, changes);
    checkBindingsRoom(after, at);
    checkFlatRoom(after, at);
  }
  const there = tagsByKey(tags);
  return changes.map((change) => eventOf(change, there.get(change.key)?.value === null));
};

/** Where the document of a workspace names its project. */
const MOVED_AT = '/data/relationships/project/data/id';

const tagsWith = (tags: readonly Tag[], bindings: readonly Tag[], how: BindingsHow): readonly Tag[] =>
  withBindings(tags, bindingChanges(tags, bindings, how));

const keysOf = (tags: readonly Tag[]): readonly string[] => tags.map(({ key }) => key);

/** Flat tags and bindings that a new workspace has, each in the order of the request. */
export type NewTags = { readonly names: readonly string[]; readonly bindings: readonly Tag[] };

/** Returns the tags of a new workspace: the flat ones first. Throws if its project fixes one of their keys. */
export const tagsOfNew = ({ names, bindings }: NewTags, fixed: readonly FixedKey[]): readonly Tag[] => {
  const tags = tagsWith(mergeTags(names.map(flat)), bindings, 'adding');
  checkOverrides(keysOf(tags), fixed, (key) =>
    keysOf(bindings).includes(key)
      ? placeOfKey(IN_OWNER.bindings, bindings, key)
      : `${IN_OWNER.tags}/${names.indexOf(key)}`,
  );
  checkFlatRoom(tags, names.length > 0 ? IN_OWNER.tags : IN_OWNER.bindings);
  return tags;
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
  const taken = bindings ? tagsWith(tags, bindings, 'replacing') : tags;
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
    if (absent.length > 0) checkFlatRoom(mergeTags(tags, absent.map(flat)), at ?? '/data');
    return absent.map((name) => ({ type: 'WorkspaceTagAdded', data: { name } }));
  },
  RemoveTags: ({ names }, { tags }) => {
    const unwanted = new Set(names);
    return tags
      .filter((tag) => isValueless(tag) && unwanted.has(tag.key))
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

import {
  computeBindingChanges,
  checkBindingLimit,
  BINDING_POINTERS,
  isValueless,
  mergeTags,
  buildKeyPointer,
  Refusal,
  indexTagsByKey,
  unprocessable,
  applyBindingChanges,
  removeTags,
  type BindingChange,
  type BindingMode,
  type Message,
  type HandlersByType,
  type Tag,
} from '#platform/kernel';
import type { ActiveWorkspace, WorkspaceState } from '../workspaces/workspace-state.js';

/**
 * One event for each tag: a PATCH of three bindings yields three. Requests for flat tags and for bindings have their
 * own events; the removal of a flat tag is the same event from both.
 */
export type TagEvent =
  | Message<'WorkspaceTagAdded', { name: string }>
  | Message<'WorkspaceTagRemoved', { name: string }>
  /**
   * `from`: null if the key had no tag; empty if its tag had no value, flat or not (older events have null for a flat
   * tag).
   */
  | Message<'WorkspaceTagBound', { key: string; from: string | null; to: string }>
  | Message<'WorkspaceTagUnbound', { key: string; from: string }>
  | LegacyTagEvent;

/**
 * Events of older builds, with several tags at a time and without the values before. No decision yields them any more.
 */
type LegacyTagEvent =
  Message<'WorkspaceTagged', { tags: readonly Tag[] }> | Message<'WorkspaceUntagged', { keys: readonly string[] }>;

/**
 * A key that the project binds and that is reserved with overrides disabled: workspaces in the project may not bind it.
 */
export type FixedTagKey = {
  readonly key: string;
  /** Name of the project. */
  readonly project: string;
  /** Id of the reserved tag key, `rtk-…`. */
  readonly reservedTagKey: string;
};

export type TagCommand =
  /** Adds flat tags; present ones are ignored. `at`: location in the request, unless they are its data. */
  | Message<'AddTags', { names: readonly string[]; at?: string; fixed?: readonly FixedTagKey[] }>
  | Message<'RemoveTags', { names: readonly string[] }>
  | Message<'BindTags', { bindings: readonly Tag[]; mode: BindingMode; fixed?: readonly FixedTagKey[] }>;

/** A workspace is one event and one snapshot, so neither may grow without limit. */
const MAX_TAGS = 500;

/**
 * Refuses new values of keys that the project fixes; present values stay. `getPointer` locates a key in
 * the request.
 */
const checkOverrides = (
  keys: readonly string[],
  fixed: readonly FixedTagKey[],
  getPointer: (key: string) => string,
): void => {
  const requestedKeys = new Set(keys);
  const overridden = fixed.filter(({ key }) => requestedKeys.has(key));
  if (overridden.length === 0) return;
  throw new Refusal(
    'unprocessable',
    overridden.map((one) => ({ detail: describeFixedKey(one), pointer: getPointer(one.key) })),
  );
};

const describeFixedKey = ({ key, project, reservedTagKey }: FixedTagKey): string =>
  `Key ${key} is bound by project ${project} and reserved with overrides disabled (${reservedTagKey}): ` +
  'workspaces in the project cannot bind it';

const checkTagLimit = (tags: readonly Tag[], at: string): void => {
  if (tags.filter(isValueless).length > MAX_TAGS) {
    throw unprocessable(`cannot exceed ${MAX_TAGS} tags per workspace`, at);
  }
};

const toTagEvent = ({ key, from, to }: BindingChange, isFlat: boolean): TagEvent => {
  if (to !== null) return { type: 'WorkspaceTagBound', data: { key, from, to } };
  return isFlat
    ? { type: 'WorkspaceTagRemoved', data: { name: key } }
    : { type: 'WorkspaceTagUnbound', data: { key, from: from ?? '' } };
};

/** Returns the events of bindings that a request adds or replaces; `at` locates them in its body. */
export const decideBindings = (
  tags: readonly Tag[],
  { bindings, mode, at }: { readonly bindings: readonly Tag[]; readonly mode: BindingMode; readonly at: string },
  fixed: readonly FixedTagKey[],
): readonly TagEvent[] => {
  const changes = computeBindingChanges(tags, bindings, mode);
  checkOverrides(listBoundKeys(changes), fixed, (key) => buildKeyPointer(at, bindings, key));
  if (changes.length > 0) {
    const after = applyBindingChanges(tags, changes);
    checkBindingLimit(after, at);
    checkTagLimit(after, at);
  }
  const there = indexTagsByKey(tags);
  return changes.map((change) => toTagEvent(change, there.get(change.key)?.value === null));
};

/** Returns the events that remove the keys that a project fixes. */
export const decideUnbinding = (tags: readonly Tag[], fixed: readonly FixedTagKey[]): readonly TagEvent[] => {
  const there = indexTagsByKey(tags);
  return fixed.flatMap(({ key }) => {
    const tag = there.get(key);
    return tag ? [toTagEvent({ key, from: tag.value, to: null }, tag.value === null)] : [];
  });
};

/** Location of the project in the document of a workspace. */
const PROJECT_POINTER = '/data/relationships/project/data/id';

const applyBindings = (tags: readonly Tag[], bindings: readonly Tag[], mode: BindingMode): readonly Tag[] =>
  applyBindingChanges(tags, computeBindingChanges(tags, bindings, mode));

const listKeys = (tags: readonly Tag[]): readonly string[] => tags.map(({ key }) => key);

/** Flat tags and bindings of a new workspace, each in the order of the request. */
export type NewTags = { readonly names: readonly string[]; readonly bindings: readonly Tag[] };

/** Returns the tags of a new workspace: the flat ones first. Throws if its project fixes one of their keys. */
export const createInitialTags = ({ names, bindings }: NewTags, fixed: readonly FixedTagKey[]): readonly Tag[] => {
  const tags = applyBindings(mergeTags(names.map(createFlatTag)), bindings, 'adding');
  checkOverrides(listKeys(tags), fixed, (key) =>
    listKeys(bindings).includes(key)
      ? buildKeyPointer(BINDING_POINTERS.bindings, bindings, key)
      : `${BINDING_POINTERS.tags}/${names.indexOf(key)}`,
  );
  checkTagLimit(tags, names.length > 0 ? BINDING_POINTERS.tags : BINDING_POINTERS.bindings);
  return tags;
};

/** Checks the tags of a workspace that moves to another project, where they count as new. */
export const checkMovedTags = (
  tags: readonly Tag[],
  {
    bindings,
    movedAt = PROJECT_POINTER,
  }: { readonly bindings: readonly Tag[] | undefined; readonly movedAt: string | undefined },
  fixed: readonly FixedTagKey[],
): void => {
  const tagsAfterMove = bindings ? applyBindings(tags, bindings, 'replacing') : tags;
  checkOverrides(listKeys(tagsAfterMove), fixed, (key) =>
    bindings && listKeys(bindings).includes(key) ? buildKeyPointer(BINDING_POINTERS.bindings, bindings, key) : movedAt,
  );
};

const listBoundKeys = (changes: readonly BindingChange[]): readonly string[] =>
  changes.flatMap(({ key, to }) => (to === null ? [] : [key]));

export const tagDecisions: HandlersByType<TagCommand, [state: ActiveWorkspace], readonly TagEvent[]> = {
  AddTags: ({ names, at, fixed = [] }, { tags }) => {
    const there = indexTagsByKey(tags);
    const absent = [...new Set(names)].filter((name) => !there.has(name));
    checkOverrides(absent, fixed, (key) => at ?? `/data/${names.indexOf(key)}`);
    if (absent.length > 0) checkTagLimit(mergeTags(tags, absent.map(createFlatTag)), at ?? '/data');
    return absent.map((name) => ({ type: 'WorkspaceTagAdded', data: { name } }));
  },
  RemoveTags: ({ names }, { tags }) => {
    const unwanted = new Set(names);
    return tags
      .filter((tag) => isValueless(tag) && unwanted.has(tag.key))
      .map(({ key }) => ({ type: 'WorkspaceTagRemoved', data: { name: key } }));
  },
  BindTags: ({ bindings, mode, fixed = [] }, { tags }) => decideBindings(tags, { bindings, mode, at: '/data' }, fixed),
};

const createFlatTag = (name: string): Tag => ({ key: name, value: null });

const withTags = (state: WorkspaceState, change: (tags: readonly Tag[]) => readonly Tag[]): WorkspaceState =>
  state.status === 'active' ? { ...state, tags: change(state.tags) } : state;

export const tagEvolutions: HandlersByType<TagEvent, [state: WorkspaceState], WorkspaceState> = {
  WorkspaceTagAdded: ({ name }, state) => withTags(state, (tags) => mergeTags(tags, [createFlatTag(name)])),
  WorkspaceTagRemoved: ({ name }, state) => withTags(state, (tags) => removeTags(tags, [name])),
  WorkspaceTagBound: ({ key, to }, state) => withTags(state, (tags) => mergeTags(tags, [{ key, value: to }])),
  WorkspaceTagUnbound: ({ key }, state) => withTags(state, (tags) => removeTags(tags, [key])),
  WorkspaceTagged: ({ tags: added }, state) => withTags(state, (tags) => mergeTags(tags, added)),
  WorkspaceUntagged: ({ keys }, state) => withTags(state, (tags) => removeTags(tags, keys)),
};

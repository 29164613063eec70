import { unprocessable, type Message, type Table } from '#kernel';
import type { ActiveWorkspace, Workspace } from './workspace.js';

/** A flat tag where `value` is null, else a key-value binding. A key appears once, in order of insertion. */
export type Tag = { readonly key: string; readonly value: string | null };

export type TagEvent =
  Message<'WorkspaceTagged', { tags: readonly Tag[] }> | Message<'WorkspaceUntagged', { keys: readonly string[] }>;

export type TagCommand =
  /** Flat tags; one that is there already is ignored. */
  | Message<'AddTags', { names: readonly string[] }>
  | Message<'RemoveTags', { names: readonly string[] }>
  /** Key-value bindings: adds, or overwrites by key. */
  | Message<'BindTags', { bindings: readonly Tag[] }>;

const FLAT = /^[A-Za-z0-9:_-]{1,255}$/;
const KEY = /^[A-Za-z0-9_.=+@: -]{1,128}$/;
const MAX_BINDINGS = 10;
const MAX_VALUE = 256;

/** Rules of clients.md §3; `pointer` says where in the request the tags stood. */
export const checkFlatTags = (names: readonly string[], pointer: string): void => {
  names.forEach((name, index) => {
    if (name === '') throw unprocessable("Name can't be blank", `${pointer}/${index}/attributes/name`);
    if (!FLAT.test(name)) {
      const text = 'Name may only contain letters, numbers, colons, hyphens and underscores, at most 255 of them';
      throw unprocessable(text, `${pointer}/${index}/attributes/name`);
    }
  });
};

export const checkBindings = (bindings: readonly Tag[], pointer: string): void => {
  if (bindings.length > MAX_BINDINGS) throw unprocessable('cannot exceed 10 bindings per resource', pointer);
  bindings.forEach(({ key, value }, index) => {
    if (!KEY.test(key)) throw unprocessable('Key is invalid', `${pointer}/${index}/attributes/key`);
    if ((value ?? '').length > MAX_VALUE) {
      throw unprocessable('Value is too long (at most 256 characters)', `${pointer}/${index}/attributes/value`);
    }
  });
};

const tagged = (tags: readonly Tag[]): readonly TagEvent[] =>
  tags.length > 0 ? [{ type: 'WorkspaceTagged', data: { tags } }] : [];

const untagged = (keys: readonly string[]): readonly TagEvent[] =>
  keys.length > 0 ? [{ type: 'WorkspaceUntagged', data: { keys } }] : [];

const merge = (tags: readonly Tag[], added: readonly Tag[]): readonly Tag[] => {
  const merged = new Map(tags.map((tag) => [tag.key, tag]));
  for (const { key, value } of added) merged.set(key, { key, value });
  return [...merged.values()];
};

/** Only those that change something. */
const news = (tags: readonly Tag[], wanted: readonly Tag[]): readonly Tag[] =>
  merge([], wanted).filter(({ key, value }) => !tags.some((tag) => tag.key === key && tag.value === value));

const checkRoom = (tags: readonly Tag[], added: readonly Tag[]): void => {
  if (merge(tags, added).filter(({ value }) => value !== null).length > MAX_BINDINGS) {
    throw unprocessable('cannot exceed 10 bindings per resource', '/data');
  }
};

/** A list that came with the workspace itself stands for all its bindings; flat tags stay. */
export const replaceBindings = (bindings: readonly Tag[], { tags }: ActiveWorkspace): readonly TagEvent[] => {
  const gone = tags.filter(({ key, value }) => value !== null && !bindings.some((binding) => binding.key === key));
  return [...untagged(gone.map(({ key }) => key)), ...tagged(news(tags, bindings))];
};

export const tagDecisions: Table<TagCommand, [state: ActiveWorkspace], readonly TagEvent[]> = {
  AddTags: ({ names }, { tags }) => {
    const absent = new Set(names.filter((name) => !tags.some(({ key }) => key === name)));
    return tagged([...absent].map((key) => ({ key, value: null })));
  },
  RemoveTags: ({ names }, { tags }) =>
    untagged(tags.filter(({ key, value }) => value === null && names.includes(key)).map(({ key }) => key)),
  BindTags: ({ bindings }, { tags }) => {
    checkRoom(tags, bindings);
    return tagged(news(tags, bindings));
  },
};

export const tagEvolutions: Table<TagEvent, [state: Workspace], Workspace> = {
  WorkspaceTagged: ({ tags }, state) =>
    state.status === 'active' ? { ...state, tags: merge(state.tags, tags) } : state,
  WorkspaceUntagged: ({ keys }, state) =>
    state.status === 'active' ? { ...state, tags: state.tags.filter(({ key }) => !keys.includes(key)) } : state,
};

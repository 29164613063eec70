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
/** A workspace is one event and one snapshot: neither may grow without end. */
const MAX_TAGS = 500;
const MAX_VALUE = 256;

export const checkNumber = (tags: number, pointer: string): void => {
  if (tags > MAX_TAGS) throw unprocessable(`cannot exceed ${MAX_TAGS} tags per request`, pointer);
};

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

type ByKey = ReadonlyMap<string, Tag>;

const byKey = (tags: readonly Tag[]): ByKey => new Map(tags.map((tag) => [tag.key, tag]));

/** Every key once, at its first place and with its last value. */
export const merge = (tags: readonly Tag[], added: readonly Tag[] = []): readonly Tag[] => [
  ...byKey([...tags, ...added].map(({ key, value }) => ({ key, value }))).values(),
];

/** Only those that change something. */
const news = (tags: ByKey, wanted: readonly Tag[]): readonly Tag[] =>
  merge(wanted).filter(({ key, value }) => tags.get(key)?.value !== value);

const checkRoom = (tags: readonly Tag[], kind: 'flat' | 'bindings'): void => {
  const count = tags.filter(({ value }) => (value === null) === (kind === 'flat')).length;
  if (kind === 'flat' && count > MAX_TAGS) throw unprocessable(`cannot exceed ${MAX_TAGS} tags per workspace`, '/data');
  if (kind === 'bindings' && count > MAX_BINDINGS) {
    throw unprocessable('cannot exceed 10 bindings per resource', '/data');
  }
};

/** A list that came with the workspace itself stands for all its bindings; flat tags stay. */
export const replaceBindings = (bindings: readonly Tag[], { tags }: ActiveWorkspace): readonly TagEvent[] => {
  const kept = byKey(bindings);
  const gone = tags.filter(({ key, value }) => value !== null && !kept.has(key));
  return [...untagged(gone.map(({ key }) => key)), ...tagged(news(byKey(tags), bindings))];
};

export const tagDecisions: Table<TagCommand, [state: ActiveWorkspace], readonly TagEvent[]> = {
  AddTags: ({ names }, { tags }) => {
    const there = byKey(tags);
    const absent = merge(names.filter((name) => !there.has(name)).map((key) => ({ key, value: null })));
    if (absent.length > 0) checkRoom([...tags, ...absent], 'flat');
    return tagged(absent);
  },
  RemoveTags: ({ names }, { tags }) => {
    const unwanted = new Set(names);
    return untagged(tags.filter(({ key, value }) => value === null && unwanted.has(key)).map(({ key }) => key));
  },
  BindTags: ({ bindings }, { tags }) => {
    const bound = news(byKey(tags), bindings);
    if (bound.length > 0) checkRoom(merge(tags, bound), 'bindings');
    return tagged(bound);
  },
};

export const tagEvolutions: Table<TagEvent, [state: Workspace], Workspace> = {
  WorkspaceTagged: ({ tags }, state) =>
    state.status === 'active' ? { ...state, tags: merge(state.tags, tags) } : state,
  WorkspaceUntagged: ({ keys }, state) => {
    if (state.status !== 'active') return state;
    const gone = new Set(keys);
    return { ...state, tags: state.tags.filter(({ key }) => !gone.has(key)) };
  },
};

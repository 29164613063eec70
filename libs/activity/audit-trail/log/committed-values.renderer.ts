import { appendPointer, listUncommittedTexts } from '#packages/trail-verifier';
import { getPlaceholder, isEncryptedText, mapStrings, type OpenedText, type TextOpener } from '#storage/personal-data';
import type { TrailEntry } from '../writing/trail-entry.js';

/**
 * A value that an entry contains as a commitment: a personal value, or a detail of the client that a setting can hide. Its
 * pointer names members of objects only, so an array with a personal text is one value.
 */
export type CommittedValue = {
  readonly pointer: string;
  /** The texts of people in the value; empty if it belongs to nobody who can be forgotten. */
  readonly texts: readonly OpenedText[];
  /** The value as its salt opens it; undefined once one of the people has been forgotten. */
  readonly value: unknown;
};

/** An entry as readers get it, with the values that it commits to, in the order of their pointers. */
export type CommittedEntry = { readonly entry: TrailEntry; readonly values: readonly CommittedValue[] };

/** Pointers to the details of the client that CADASTRE_AUDIT_CLIENT_DETAILS hides, also of clients that are no people. */
export const CLIENT_DETAILS: readonly string[] = ['/request/address', '/request/user_agent'];

/**
 * Returns the entry of a stored entry, whose texts may be encrypted, with its committed values. A value of a forgotten person
 * is the person's id only if the id is also outside the committed values: nothing else authenticates it.
 */
export const findCommittedValues = (stored: TrailEntry, open: TextOpener): CommittedEntry => {
  const values: CommittedValue[] = [];
  const entry = openMembers('', stored, open, values) as TrailEntry;
  values.sort((a, b) => (a.pointer < b.pointer ? -1 : 1));
  const erased = new Set(values.flatMap(({ pointer, value }) => (value === undefined ? [pointer] : [])));
  if (erased.size === 0) return { entry, values };
  const committed = new Set(values.map(({ pointer }) => pointer));
  const texts = listUncommittedTexts(entry, (pointer) => committed.has(pointer));
  const isUnproven = (pointer: string, text: string): boolean => erased.has(pointer) && !texts.has(text);
  return { entry: replaceUnproven('', entry, isUnproven) as TrailEntry, values };
};

const replaceUnproven = (
  pointer: string,
  tree: unknown,
  isUnproven: (pointer: string, text: string) => boolean,
): unknown => {
  if (typeof tree === 'string') return isUnproven(pointer, tree) ? null : tree;
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree).map(([name, member]: [string, unknown]) => [
      name,
      replaceUnproven(appendPointer(pointer, name), member, isUnproven),
    ]),
  );
};

const openMembers = (parent: string, tree: object, open: TextOpener, values: CommittedValue[]): unknown =>
  Object.fromEntries(
    Object.entries(tree).map(([name, member]: [string, unknown]) => {
      const pointer = appendPointer(parent, name);
      return [name, openMember(pointer, member, open, values)];
    }),
  );

const openMember = (pointer: string, member: unknown, open: TextOpener, values: CommittedValue[]): unknown => {
  if (typeof member === 'object' && member !== null && !Array.isArray(member))
    return openMembers(pointer, member, open, values);
  const texts = typeof member === 'string' || Array.isArray(member) ? listOpenedTexts(member, open) : [];
  const isClientDetail = member !== null && CLIENT_DETAILS.includes(pointer);
  if (texts.length === 0 && !isClientDetail) return member;
  const isErased = texts.some(({ text }) => text === null);
  const opened = mapStrings(member, (text) => openOrReplace(text, open));
  values.push({ pointer, texts, value: isErased ? undefined : opened });
  // Verifiers accept no other array in place of an erased one.
  return isErased && Array.isArray(member) ? null : opened;
};

const openOrReplace = (text: string, open: TextOpener): string | null => {
  const opened = open(text);
  return opened ? (opened.text ?? getPlaceholder(opened)) : text;
};

const listOpenedTexts = (value: unknown, open: TextOpener): OpenedText[] => {
  if (typeof value === 'string') return isEncryptedText(value) ? [open(value) ?? []].flat() : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((member) => listOpenedTexts(member, open));
};

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

/** Returns the pointer of a member of the object at a pointer (RFC 6901). */
const toPointer = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns the entry of a stored entry, whose texts may be encrypted, with its committed values. */
export const findCommittedValues = (stored: TrailEntry, open: TextOpener): CommittedEntry => {
  const values: CommittedValue[] = [];
  const entry = openMembers('', stored, open, values) as TrailEntry;
  values.sort((a, b) => (a.pointer < b.pointer ? -1 : 1));
  return { entry, values };
};

const openMembers = (parent: string, tree: object, open: TextOpener, values: CommittedValue[]): unknown =>
  Object.fromEntries(
    Object.entries(tree).map(([name, member]: [string, unknown]) => {
      const pointer = toPointer(parent, name);
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

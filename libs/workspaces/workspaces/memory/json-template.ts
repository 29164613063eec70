/**
 * JSON texts that differ in a few values share one template. A text is split where a value stands: `Slot` in the place of
 * a complete JSON value, or `markText` inside of a string. Postgres stores no NUL, so no other string contains the mark.
 */

const MARK = '\0';
const MARKED = /\0(\d+);/;

/** Stands for a JSON value in a template. */
export class Slot {
  constructor(readonly number: number) {}
}

/** Returns a text that stands for a part of a string in a template. */
export const markText = (slot: number): string => `${MARK}${slot};`;

/** `pieces` has one element more than `slots`: they alternate. */
export type JsonTemplate = { readonly pieces: readonly string[]; readonly slots: readonly number[] };

type Writer = { text: string; readonly pieces: string[]; readonly slots: number[] };

const writeSlot = (writer: Writer, slot: number): void => {
  writer.pieces.push(writer.text);
  writer.slots.push(slot);
  writer.text = '';
};

const writeString = (writer: Writer, value: string): void => {
  if (!value.includes(MARK)) {
    writer.text += JSON.stringify(value);
    return;
  }
  writer.text += '"';
  for (const [n, part] of value.split(MARKED).entries()) {
    if (n % 2 === 1) writeSlot(writer, Number(part));
    else writer.text += toJsonCharacters(part);
  }
  writer.text += '"';
};

const writeObject = (writer: Writer, value: object): void => {
  let separator = '{';
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    writer.text += `${separator}${JSON.stringify(key)}:`;
    write(writer, member);
    separator = ',';
  }
  writer.text += separator === '{' ? '{}' : '}';
};

const writeArray = (writer: Writer, items: readonly unknown[]): void => {
  writer.text += '[';
  for (const [n, item] of items.entries()) {
    if (n > 0) writer.text += ',';
    write(writer, item);
  }
  writer.text += ']';
};

const write = (writer: Writer, value: unknown): void => {
  if (value instanceof Slot) writeSlot(writer, value.number);
  else if (typeof value === 'string') writeString(writer, value);
  else if (Array.isArray(value)) writeArray(writer, value);
  else if (typeof value === 'object' && value !== null) writeObject(writer, value);
  else writer.text += JSON.stringify(value);
};

/** Returns the text as it is inside of a JSON string. */
export const toJsonCharacters = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Returns what `JSON.stringify` returns for the value, split at its slots. */
export const createTemplate = (value: unknown): JsonTemplate => {
  const writer: Writer = { text: '', pieces: [], slots: [] };
  write(writer, value);
  return { pieces: [...writer.pieces, writer.text], slots: writer.slots };
};

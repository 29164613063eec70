import { createHash } from 'node:crypto';

const FIRST = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const REST = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns the code of a field: a letter, and three small letters or digits. It is derived from the name, so new fields
 * need no registration, and no code can be found across the border of two others.
 */
export const toFieldCode = (field: string): string => {
  const [first = 0, ...rest] = createHash('sha256').update(field).digest().subarray(0, 4);
  return FIRST.charAt(first % FIRST.length) + rest.map((byte) => REST.charAt(byte % REST.length)).join('');
};

const codes = new Map<string, string>();

/** Returns the codes of fields that the code names, as one text. */
export const encodeFields = (fields: readonly string[]): string =>
  fields
    .map((field) => {
      const code = codes.get(field) ?? toFieldCode(field);
      codes.set(field, code);
      return code;
    })
    .join('');

/** Returns those of the fields whose codes the text contains. */
export const decodeFields = (text: string, fields: readonly string[]): readonly string[] =>
  fields.filter((field) => text.includes(encodeFields([field])));

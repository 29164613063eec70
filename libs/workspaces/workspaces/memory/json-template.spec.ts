import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTemplate, markText, Slot, toJsonCharacters, type JsonTemplate } from './json-template.js';

const fill = ({ pieces, slots }: JsonTemplate, values: readonly string[]): string =>
  pieces.map((piece, n) => piece + (n < slots.length ? (values[slots[n] as number] as string) : '')).join('');

// Postgres stores no NUL.
const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''));

describe('createTemplate', () => {
  it('gives the text of JSON.stringify if its slots are filled', () =>
    fc.assert(
      fc.property(text, fc.jsonValue(), fc.jsonValue(), (id, value, other) => {
        const build = (mark: string, slot: unknown) => ({
          id: mark,
          links: [`/a/${mark}/${mark}?b`],
          slot,
          other,
          none: undefined,
        });
        fc.pre(!JSON.stringify(other).includes(String.raw`\u0000`));
        const template = createTemplate(build(markText(0), new Slot(1)));
        expect(fill(template, [toJsonCharacters(id), JSON.stringify(value)])).toBe(JSON.stringify(build(id, value)));
      }),
    ));
});

import { describe, expect, it } from '@jest/globals';
import { decodeFields, encodeFields, toFieldCode } from './history.field-codes.js';

const FIELDS = ['name', 'locked', 'locked-by', 'locked-reason', 'auto-apply', 'description', 'tag-bindings', 'vars'];

describe('the codes of fields', () => {
  it('differ', () => {
    expect(new Set(FIELDS.map(toFieldCode)).size).toBe(FIELDS.length);
  });

  it('are found only where they begin', () => {
    const all = encodeFields(FIELDS);
    for (const field of FIELDS) expect(all.split(toFieldCode(field))).toHaveLength(2);
    for (const field of FIELDS) {
      const others = FIELDS.filter((other) => other !== field);
      expect(decodeFields(encodeFields(others), FIELDS)).toEqual(others);
    }
  });

  it('are those of the indexes', () => {
    expect(['name', 'ssh-key'].map(toFieldCode)).toEqual(['Atlt', 'C51m']);
  });
});

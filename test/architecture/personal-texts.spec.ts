import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { registry } from '../../apps/slices.js';

type Schema = { readonly properties?: Readonly<Record<string, unknown>> };

/** Of these the address, or the name, is nobody's. */
const NOBODYS: Readonly<Record<string, string>> = {
  OrganizationCreated: 'the address is the organization’s',
  OrganizationUpdated: 'the address is the organization’s',
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Whether somebody could be named there: { type, id, name }, or a field of that meaning. */
const namesSomebody = (schema: unknown): boolean => {
  if (!isObject(schema)) return false;
  const { properties } = schema as Schema;
  const has = (...keys: readonly string[]): boolean =>
    keys.every((key) => properties !== undefined && key in properties);
  // An output has a name and a type as well.
  if ((has('type', 'id', 'name') && !has('sensitive')) || has('username') || has('email')) return true;
  return Object.values(schema).some(namesSomebody);
};

const naming = Object.entries(registry).filter(([, { schema }]) =>
  namesSomebody(z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input' })),
);

describe('an event whose data names people', () => {
  it('says which of its texts these are, so that they are sealed', () => {
    expect(naming.map(([type]) => type)).toEqual(
      expect.arrayContaining([
        'WorkspaceLocked',
        'RunConfirmed',
        'UserUpdated',
        'TeamMemberAdded',
        ...Object.keys(NOBODYS),
      ]),
    );
    expect(naming.filter(([type, kind]) => !kind.personal && !(type in NOBODYS)).map(([type]) => type)).toEqual([]);
  });
});

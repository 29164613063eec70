import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { reservedTagKey, type ReservedTagKeyEvent } from './reserved-tag-key.js';

const { given } = specify(reservedTagKey);

const env = { key: 'env', disableOverrides: false };
const created: ReservedTagKeyEvent = { type: 'ReservedTagKeyCreated', data: env };
const fixed: ReservedTagKeyEvent = {
  type: 'ReservedTagKeyUpdated',
  data: { from: env, to: { ...env, disableOverrides: true } },
};
const deleted: ReservedTagKeyEvent = { type: 'ReservedTagKeyDeleted', data: env };

const create = (key: string) => ({ type: 'CreateReservedTagKey', data: { key, disableOverrides: false } }) as const;
const update = (changes: object) => ({ type: 'UpdateReservedTagKey', data: { changes } }) as const;
const remove = { type: 'DeleteReservedTagKey', data: {} } as const;

describe('a reserved tag key', () => {
  it('is created once', () => {
    given().when(create('env')).yields(created);
    given(created).when(create('env')).refuses('conflict', 'exists already');
  });

  it.each(['cost-center', 'Team', 'a b', '_.=+@:-', 'k'.repeat(128), '0'])('accepts the key %j', (key) => {
    const data = { key, disableOverrides: false };
    given().when(create(key)).yields({ type: 'ReservedTagKeyCreated', data });
    given(created)
      .when(update({ key }))
      .yields({ type: 'ReservedTagKeyUpdated', data: { from: env, to: data } });
  });

  it.each([
    ['', "Key can't be blank"],
    ['  ', "Key can't be blank"],
    ['a/b', 'Key is invalid'],
    ['schlüssel', 'Key is invalid'],
    ['line\nbreak', 'Key is invalid'],
    ['trailing\n', 'Key is invalid'],
    ['k'.repeat(129), 'Key is invalid'],
  ])('refuses the key %j', (key, detail) => {
    given().when(create(key)).refuses('unprocessable', detail);
    given(created).when(update({ key })).refuses('unprocessable', detail);
  });

  it('records all attributes before and after a change', () => {
    given(created)
      .when(update({ disableOverrides: true }))
      .yields(fixed);
    given(created, fixed)
      .when(update({ key: 'stage', disableOverrides: true }))
      .yields({
        type: 'ReservedTagKeyUpdated',
        data: { from: { key: 'env', disableOverrides: true }, to: { key: 'stage', disableOverrides: true } },
      });
    expect(given(created, fixed).state).toEqual({ status: 'active', key: 'env', disableOverrides: true });
  });

  it('records no event if nothing changes', () => {
    given(created).when(update({})).yields();
    given(created)
      .when(update({ key: 'env', disableOverrides: false }))
      .yields();
  });

  it('is deleted once, and refuses every command afterwards', () => {
    given(created).when(remove).yields(deleted);
    for (const command of [update({ key: 'x' }), remove]) {
      given(created, deleted).when(command).refuses('not-found', '');
      given().when(command).refuses('not-found', '');
    }
    given(created, deleted).when(create('env')).refuses('conflict', 'exists already');
  });
});

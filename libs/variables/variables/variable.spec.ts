import { describe, expect, it } from '@jest/globals';
import { decide, fold } from '#kernel';
import { specify } from '#kernel/spec';
import {
  findSecretToStore,
  variable,
  type VariableChanges,
  type VariableCommand,
  type VariableEvent,
} from './variable.js';

const { given } = specify(variable);

const owner = { type: 'workspaces', id: 'ws-1' } as const;
const facts = { key: 'region', category: 'terraform', description: null, hcl: false, sensitive: false } as const;
const born = { type: 'VariableCreated', data: { owner, ...facts, value: 'eu' } } as const;
const bornSecret: VariableEvent = { type: 'VariableCreated', data: { ...born.data, sensitive: true, value: null } };
const gone: VariableEvent = { type: 'VariableDeleted', data: { key: 'region' } };
const create = (data: object = {}): VariableCommand => ({
  type: 'CreateVariable',
  data: { owner, ...facts, value: 'eu', ...data },
});
const update = (changes: VariableChanges): VariableCommand => ({ type: 'UpdateVariable', data: { changes } });
const updated = (changes: VariableChanges): VariableEvent => ({ type: 'VariableUpdated', data: { changes } });
const remove: VariableCommand = { type: 'DeleteVariable', data: {} };

/** What a command's event and the vault come to hold. */
const outcome = (history: readonly VariableEvent[], command: VariableCommand) => {
  const state = fold(variable, variable.initial, history);
  return { event: decide(variable, command, state)[0]?.data, secret: findSecretToStore(command, state) };
};

describe('a variable', () => {
  it('is born with what is given', () => given().when(create()).yields(born));

  it.each([
    'region',
    '_x',
    '1st',
    '0f9d4b1e-6c1d-4f3a-9d53-6f1c2b7a8e90',
    'a b',
    'a.b',
    'a=b',
    'größe',
    'k'.repeat(256),
  ])('accepts the key %j in the category terraform', (key) =>
    given()
      .when(create({ key }))
      .yields({ ...born, data: { ...born.data, key } }),
  );

  it.each(['PATH', '1ST', 'TF_TOKEN_app.terraform.io', '0f9d4b1e-6c1d-4f3a-9d53-6f1c2b7a8e90', 'Ä'])(
    'accepts the key %j in the category env',
    (key) =>
      given()
        .when(create({ key, category: 'env' }))
        .yields({ ...born, data: { ...born.data, key, category: 'env' } }),
  );

  it.each(['a\nb', 'a\u001bb'])('refuses the key %j in the category terraform', (key) =>
    given().when(create({ key })).refuses('unprocessable', 'Key is invalid: it must have no control characters'),
  );

  it.each(['A B', 'A=B', 'A\nB', 'A\u00a0B'])('refuses the key %j in the category env', (key) => {
    const text = "Key is invalid: the key of an environment variable has no whitespace and no '='";
    given()
      .when(create({ key, category: 'env' }))
      .refuses('unprocessable', text);
    given(born)
      .when(update({ key, category: 'env' }))
      .refuses('unprocessable', text);
  });

  it('refuses the category env if the key has a space', () =>
    given({ ...born, data: { ...born.data, key: 'a b' } })
      .when(update({ category: 'env' }))
      .refuses('unprocessable', 'Key is invalid'));

  it('has a key, and nothing in it is too long', () => {
    given()
      .when(create({ key: ' ' }))
      .refuses('unprocessable', "Key can't be blank");
    given()
      .when(create({ key: 'k'.repeat(257) }))
      .refuses('unprocessable', 'Key is too long');
    given()
      .when(create({ description: 'd'.repeat(513) }))
      .refuses('unprocessable', 'Description is too long');
    // Bytes, not characters.
    given()
      .when(create({ value: 'ü'.repeat(128 * 1024 + 1) }))
      .refuses('unprocessable', 'Value is too long');
    given(born)
      .when(update({ value: 'x'.repeat(256 * 1024 + 1) }))
      .refuses('unprocessable', 'Value is too long');
    given(born)
      .when(update({ value: 'x'.repeat(256 * 1024) }))
      .yields(updated({ value: 'x'.repeat(256 * 1024) }));
  });

  it('tells only what has changed; null clears', () => {
    given(born)
      .when(update({ key: 'region', value: 'us', hcl: true }))
      .yields(updated({ value: 'us', hcl: true }));
    given(born, updated({ description: 'where' }))
      .when(update({ description: null }))
      .yields(updated({ description: null }));
    given(born)
      .when(update({ value: null }))
      .yields(updated({ value: '' }));
  });

  it('gets a new version without changes if an update names none, or the values that it has', () => {
    given(born).when(update({})).yields(updated({}));
    given(born)
      .when(update({ ...facts, value: 'eu' }))
      .yields(updated({}));
  });

  it('is deleted, and gone then', () => {
    given(born).when(remove).yields(gone);
    for (const command of [remove, update({ value: 'x' })])
      given(born, gone).when(command).refuses('not-found', 'Not found');
    given(born).when(create()).refuses('conflict', 'exists already');
  });
});

describe('a sensitive variable', () => {
  it('leaves its value to the vault, from the first moment on', () =>
    expect(outcome([], create({ sensitive: true, value: 's3cret' }))).toEqual({
      event: bornSecret.data,
      secret: 's3cret',
    }));

  it('takes a new value, told without it; also one that may be the same', () =>
    expect(outcome([bornSecret], update({ value: 'next' }))).toEqual({
      event: { changes: { value: null } },
      secret: 'next',
    }));

  it('keeps its value where null comes back, as it was shown', () => {
    given(bornSecret)
      .when(update({ value: null }))
      .yields(updated({}));
    expect(outcome([bornSecret], update({ value: null, hcl: true }))).toEqual({
      event: { changes: { hcl: true } },
      secret: null,
    });
  });

  it('takes the value that it has along when it becomes sensitive, or the one that comes with it', () => {
    const event = { changes: { sensitive: true, value: null } };
    expect(outcome([born], update({ sensitive: true }))).toEqual({ event, secret: 'eu' });
    expect(outcome([born], update({ sensitive: true, value: 'new' }))).toEqual({ event, secret: 'new' });
    expect(outcome([born], update({ sensitive: true, value: null }))).toEqual({ event, secret: '' });
  });

  it('stays so, under its name', () => {
    given(bornSecret)
      .when(update({ sensitive: false }))
      .refuses('unprocessable', 'Sensitive cannot be turned off');
    given(bornSecret)
      .when(update({ sensitive: false, value: 'x' }))
      .refuses('unprocessable', 'cannot be turned off');
    given(bornSecret)
      .when(update({ key: 'other' }))
      .refuses('unprocessable', 'Key of a sensitive variable');
    given(bornSecret)
      .when(update({ ...facts, sensitive: true, description: 'said' }))
      .yields(updated({ description: 'said' }));
  });

  it('keeps its value if its category changes', () =>
    expect(outcome([bornSecret], update({ category: 'env' }))).toEqual({
      event: { changes: { category: 'env' } },
      secret: null,
    }));

  it('has nothing for the vault where it is not sensitive, or deleted', () => {
    expect(outcome([], create()).secret).toBeNull();
    expect(outcome([born], update({ value: 'us' })).secret).toBeNull();
    expect(outcome([bornSecret], remove).secret).toBeNull();
  });
});

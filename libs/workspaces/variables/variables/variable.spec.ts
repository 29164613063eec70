import { describe, expect, it } from '@jest/globals';
import { decide, fold } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import {
  findSecretToStore,
  variable,
  type VariableChanges,
  type VariableCommand,
  type VariableEvent,
} from './variable.js';

const { given } = specify(variable);

const owner = { type: 'workspaces', id: 'ws-1' } as const;
const attributes = { key: 'region', category: 'terraform', description: null, hcl: false, sensitive: false } as const;
const created = { type: 'VariableCreated', data: { owner, ...attributes, value: 'eu' } } as const;
const createdSecret: VariableEvent = {
  type: 'VariableCreated',
  data: { ...created.data, sensitive: true, value: null },
};
const deleted: VariableEvent = { type: 'VariableDeleted', data: { key: 'region' } };
const create = (data: object = {}): VariableCommand => ({
  type: 'CreateVariable',
  data: { owner, ...attributes, value: 'eu', ...data },
});
const update = (changes: VariableChanges): VariableCommand => ({ type: 'UpdateVariable', data: { changes } });
const updated = (changes: VariableChanges): VariableEvent => ({ type: 'VariableUpdated', data: { changes } });
const remove: VariableCommand = { type: 'DeleteVariable', data: {} };

/** Returns the data of the command's event, and the text for the vault. */
const outcome = (history: readonly VariableEvent[], command: VariableCommand) => {
  const state = fold(variable, variable.initial, history);
  return { event: decide(variable, command, state)[0]?.data, secret: findSecretToStore(command, state) };
};

describe('a variable', () => {
  it('is created with the attributes of the command', () => given().when(create()).yields(created));

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
      .yields({ ...created, data: { ...created.data, key } }),
  );

  it.each(['PATH', '1ST', 'TF_TOKEN_app.terraform.io', '0f9d4b1e-6c1d-4f3a-9d53-6f1c2b7a8e90', 'Ä'])(
    'accepts the key %j in the category env',
    (key) =>
      given()
        .when(create({ key, category: 'env' }))
        .yields({ ...created, data: { ...created.data, key, category: 'env' } }),
  );

  it.each(['a\nb', 'a\u001bb'])('refuses the key %j in the category terraform', (key) =>
    given().when(create({ key })).refuses('unprocessable', 'Key is invalid: it must have no control characters'),
  );

  it.each(['A B', 'A=B', 'A\nB', 'A\u00a0B'])('refuses the key %j in the category env', (key) => {
    const text = "Key is invalid: the key of an environment variable has no whitespace and no '='";
    given()
      .when(create({ key, category: 'env' }))
      .refuses('unprocessable', text);
    given(created)
      .when(update({ key, category: 'env' }))
      .refuses('unprocessable', text);
  });

  it('refuses the category env if the key has a space', () =>
    given({ ...created, data: { ...created.data, key: 'a b' } })
      .when(update({ category: 'env' }))
      .refuses('unprocessable', 'Key is invalid'));

  it('requires a key, and refuses texts that are too long', () => {
    given()
      .when(create({ key: ' ' }))
      .refuses('unprocessable', "Key can't be blank");
    given()
      .when(create({ key: 'k'.repeat(257) }))
      .refuses('unprocessable', 'Key is too long');
    given()
      .when(create({ description: 'd'.repeat(513) }))
      .refuses('unprocessable', 'Description is too long');
    // The limit counts bytes, not characters.
    given()
      .when(create({ value: 'ü'.repeat(128 * 1024 + 1) }))
      .refuses('unprocessable', 'Value is too long');
    given(created)
      .when(update({ value: 'x'.repeat(256 * 1024 + 1) }))
      .refuses('unprocessable', 'Value is too long');
    given(created)
      .when(update({ value: 'x'.repeat(256 * 1024) }))
      .yields(updated({ value: 'x'.repeat(256 * 1024) }));
  });

  it('records only the attributes that an update changes; null clears an attribute', () => {
    given(created)
      .when(update({ key: 'region', value: 'us', hcl: true }))
      .yields(updated({ value: 'us', hcl: true }));
    given(created, updated({ description: 'where' }))
      .when(update({ description: null }))
      .yields(updated({ description: null }));
    given(created)
      .when(update({ value: null }))
      .yields(updated({ value: '' }));
  });

  it('gets a new version even if an update changes no attribute', () => {
    given(created).when(update({})).yields(updated({}));
    given(created)
      .when(update({ ...attributes, value: 'eu' }))
      .yields(updated({}));
  });

  it('is deleted once, and refuses every command afterwards', () => {
    given(created).when(remove).yields(deleted);
    for (const command of [remove, update({ value: 'x' })])
      given(created, deleted).when(command).refuses('not-found', 'Not found');
    given(created).when(create()).refuses('conflict', 'exists already');
  });
});

describe('a sensitive variable', () => {
  it('stores its value only in the vault from its creation on', () =>
    expect(outcome([], create({ sensitive: true, value: 's3cret' }))).toEqual({
      event: createdSecret.data,
      secret: 's3cret',
    }));

  it('accepts a new value, possibly the same one, and records the change without it', () =>
    expect(outcome([createdSecret], update({ value: 'next' }))).toEqual({
      event: { changes: { value: null } },
      secret: 'next',
    }));

  it('keeps its value if a client sends back null, as it was shown', () => {
    given(createdSecret)
      .when(update({ value: null }))
      .yields(updated({}));
    expect(outcome([createdSecret], update({ value: null, hcl: true }))).toEqual({
      event: { changes: { hcl: true } },
      secret: null,
    });
  });

  it('stores its value in the vault when it becomes sensitive: the new value if the update has one, else the present one', () => {
    const event = { changes: { sensitive: true, value: null } };
    expect(outcome([created], update({ sensitive: true }))).toEqual({ event, secret: 'eu' });
    expect(outcome([created], update({ sensitive: true, value: 'new' }))).toEqual({ event, secret: 'new' });
    expect(outcome([created], update({ sensitive: true, value: null }))).toEqual({ event, secret: '' });
  });

  it('cannot become readable or get another key', () => {
    given(createdSecret)
      .when(update({ sensitive: false }))
      .refuses('unprocessable', 'Sensitive cannot be turned off');
    given(createdSecret)
      .when(update({ sensitive: false, value: 'x' }))
      .refuses('unprocessable', 'cannot be turned off');
    given(createdSecret)
      .when(update({ key: 'other' }))
      .refuses('unprocessable', 'Key of a sensitive variable');
    given(createdSecret)
      .when(update({ ...attributes, sensitive: true, description: 'said' }))
      .yields(updated({ description: 'said' }));
  });

  it('keeps its value if its category changes', () =>
    expect(outcome([createdSecret], update({ category: 'env' }))).toEqual({
      event: { changes: { category: 'env' } },
      secret: null,
    }));

  it('stores nothing in the vault if it is not sensitive, or if it is deleted', () => {
    expect(outcome([], create()).secret).toBeNull();
    expect(outcome([created], update({ value: 'us' })).secret).toBeNull();
    expect(outcome([createdSecret], remove).secret).toBeNull();
  });
});

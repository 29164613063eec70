import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { registryProvider, type RegistryProviderEvent } from './registry-provider.js';

const { given } = specify(registryProvider);

const created: RegistryProviderEvent = { type: 'RegistryProviderCreated', data: { name: 'aws', namespace: null } };
const deletedUntil = (recoverableUntil: string | null): RegistryProviderEvent => ({
  type: 'RegistryProviderDeleted',
  data: { name: 'aws', namespace: null, recoverableUntil },
});
const deleted = deletedUntil(null);
const recoverablyDeleted = deletedUntil('2026-02-01T00:00:00.000Z');
const recovered = (name = 'aws', namespace: string | null = null): RegistryProviderEvent => ({
  type: 'RegistryProviderRecovered',
  data: { name, namespace },
});
const purged = (expired: boolean): RegistryProviderEvent => ({
  type: 'RegistryProviderPurged',
  data: { name: 'aws', namespace: null, expired },
});

const create = (name = 'aws', namespace: string | null = null) =>
  ({ type: 'CreateRegistryProvider', data: { name, namespace } }) as const;
const remove = { type: 'DeleteRegistryProvider', data: { recoverableUntil: null } } as const;
const recover = (name?: string) => ({ type: 'RecoverRegistryProvider', data: { name } }) as const;
const purge = (expired: boolean) => ({ type: 'PurgeRegistryProvider', data: { expired } }) as const;

describe('decisions about a registry provider', () => {
  it('create a provider only once', () => {
    given().when(create()).yields(created);
    given(created).when(create()).refuses('conflict', 'exists already');
    given(created, deleted).when(create()).refuses('conflict', 'exists already');
  });

  it.each(['aws', 'a', '3par', 'google-beta', 'x'.repeat(64)])('accept the name %j', (name) => {
    given()
      .when(create(name))
      .yields({ type: 'RegistryProviderCreated', data: { name, namespace: null } });
  });

  it.each([
    ['', "Name can't be blank"],
    [' ', "Name can't be blank"],
    ['AWS', /^Name may only contain lowercase letters/],
    ['_aws', /^Name may only contain/],
    ['aws-_cloud', /^Name may only contain/],
    ['-aws', /^Name may only contain/],
    ['aws-', /^Name may only contain/],
    ['aws--cloud', /^Name may only contain/],
    ['../registry/aws', /^Name may only contain/],
    ['aws/cloud', /^Name may only contain/],
    ['aws\u0000', /^Name may only contain/],
    ['äws', /^Name may only contain/],
    ['terraform-aws', /^Name must not begin with terraform-/],
    ['x'.repeat(65), /^Name is too long/],
  ])('reject the name %j', (name, detail) => {
    given().when(create(name)).refuses('unprocessable', detail, '/data/attributes/name');
  });

  it.each(['hashicorp', 'DataDog', '1Password', 'public_namespace', 'x'.repeat(64)])(
    'create and delete a public provider in the namespace %j',
    (namespace) => {
      const listed: RegistryProviderEvent = { type: 'RegistryProviderCreated', data: { name: 'aws', namespace } };
      given().when(create('aws', namespace)).yields(listed);
      given(listed)
        .when(remove)
        .yields({ type: 'RegistryProviderDeleted', data: { name: 'aws', namespace, recoverableUntil: null } });
    },
  );

  it.each([
    ['', "Namespace can't be blank"],
    ['a b', /^Namespace may only contain letters and numbers/],
    ['-a', /^Namespace may only contain/],
    ['a/b', /^Namespace may only contain/],
    ['x'.repeat(65), /^Namespace is too long/],
  ])('reject the namespace %j of a public provider', (namespace, detail) => {
    given().when(create('aws', namespace)).refuses('unprocessable', detail, '/data/attributes/namespace');
  });

  it('replace all tags, remove duplicates and accept at most ten', () => {
    const names = { name: 'aws', namespace: null };
    const [env, flat] = [
      { key: 'env', value: 'prod' },
      { key: 'team', value: '' },
    ];
    const tag = (...bindings: readonly { key: string; value: string }[]) =>
      ({ type: 'TagRegistryProvider', data: { bindings } }) as const;
    const tagged = (from: readonly (typeof env)[], to: readonly (typeof env | typeof flat)[]) =>
      ({ type: 'RegistryProviderTagsChanged', data: { ...names, from, to } }) as const;
    given(created)
      .when(tag(env, flat, env))
      .yields(tagged([], [env, flat]));
    given(created, tagged([], [env]))
      .when(tag(env))
      .yields();
    given(created, tagged([], [env]))
      .when(tag())
      .yields(tagged([env], []));
    const many = Array.from({ length: 11 }, (_, n) => ({ key: `k${n}`, value: '' }));
    given(created)
      .when(tag(...many))
      .refuses('unprocessable', 'cannot exceed 10 bindings per resource', '/data/relationships/tag-bindings/data');
    given().when(tag(env)).refuses('not-found', 'Not found');
  });

  it('delete a provider only once', () => {
    given(created).when(remove).yields(deleted);
    given(created, deleted).when(remove).refuses('not-found', 'Not found');
    given().when(remove).refuses('not-found', 'Not found');
  });
});

describe('a deleted provider', () => {
  const first: RegistryProviderEvent = { type: 'RegistryProviderCreated', data: { name: 'aws', namespace: null } };
  const curated: RegistryProviderEvent = {
    type: 'RegistryProviderCreated',
    data: { name: 'aws', namespace: 'hashicorp' },
  };

  it('is recovered with the name that it had, or with another one if it is private', () => {
    given(first, recoverablyDeleted).when(recover()).yields(recovered());
    given(first, recoverablyDeleted).when(recover('aws-2')).yields(recovered('aws-2'));
    given(first, recoverablyDeleted).when(recover('A B')).refuses('unprocessable', 'Name');
    given(curated, recoverablyDeleted).when(recover()).yields(recovered('aws', 'hashicorp'));
    given(curated, recoverablyDeleted)
      .when(recover('aws-2'))
      .refuses('unprocessable', 'Name of a public provider cannot be changed');
  });

  it('is recovered or purged once, and never after a final deletion', () => {
    given(first, recoverablyDeleted, recovered())
      .when(recover())
      .refuses('conflict', 'The registry provider is not deleted');
    given(first, deleted).when(recover()).refuses('not-found', 'Not found');
    given(first, recoverablyDeleted).when(purge(false)).yields(purged(false));
    given(first, recoverablyDeleted, purged(false)).when(purge(true)).yields();
    given(first, recoverablyDeleted, purged(false)).when(recover()).refuses('not-found', 'Not found');
  });
});

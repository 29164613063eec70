import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { DEFAULT_SETTINGS, organization, type OrganizationEvent } from './organization.js';

const { given } = specify(organization);

const birth = {
  name: 'acme',
  email: 'ops@acme.test',
  featureSet: 'everything',
  settings: {},
  defaultProject: 'prj-1',
  ownersTeam: 'team-1',
} as const;
const born: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { ...birth, settings: DEFAULT_SETTINGS },
};
const gone: OrganizationEvent = { type: 'OrganizationDeleted', data: { name: 'acme' } };
const create = (more: object) => ({ type: 'CreateOrganization', data: { ...birth, ...more } }) as const;
const update = (changes: object) => ({ type: 'UpdateOrganization', data: { changes } }) as const;
const changeTo = (featureSet: 'everything' | 'free') => ({ type: 'ChangeFeatureSet', data: { featureSet } }) as const;
const remove = { type: 'DeleteOrganization', data: {} } as const;

describe('an organization', () => {
  it('is born with the defaults where the request says nothing', () =>
    given()
      .when(create({ settings: { assessmentsEnforced: true } }))
      .yields({
        type: 'OrganizationCreated',
        data: { ...birth, settings: { ...DEFAULT_SETTINGS, assessmentsEnforced: true } },
      }));

  it.each(['abc', 'a-b_C9', 'x'.repeat(40)])('may be named %s', (name) =>
    given()
      .when(create({ name }))
      .yields({ type: 'OrganizationCreated', data: { ...birth, name, settings: DEFAULT_SETTINGS } }),
  );

  it.each(['with space', 'dotted.name', 'ünïcode', 'a/b', 'line\nbreak', 'acme\n', '..'])('is not named %j', (name) => {
    given().when(create({ name })).refuses('unprocessable', 'Name may only contain');
    given(born).when(update({ name })).refuses('unprocessable', 'Name may only contain');
  });

  it.each(['ab', 'x'.repeat(41)])('is not named %s, for its length', (name) =>
    given().when(create({ name })).refuses('unprocessable', 'Name must be from 3 to 40 characters long'),
  );

  it('has a name and an address', () => {
    given()
      .when(create({ name: '' }))
      .refuses('unprocessable', "Name can't be blank");
    given()
      .when(create({ email: ' ' }))
      .refuses('unprocessable', "Email can't be blank");
    given(born)
      .when(update({ email: '' }))
      .refuses('unprocessable', "Email can't be blank");
  });

  it('is born once', () => given(born).when(create({})).refuses('conflict', 'Organization exists already'));

  it('tells only what an update changes', () =>
    given(born)
      .when(update({ name: 'acme', email: 'new@acme.test', assessmentsEnforced: false, sessionTimeout: 60 }))
      .yields({ type: 'OrganizationUpdated', data: { changes: { email: 'new@acme.test', sessionTimeout: 60 } } }));

  it('says nothing when an update changes nothing', () =>
    given(born)
      .when(update({ name: 'acme' }))
      .yields());

  it('remembers what was changed', () =>
    given(born, { type: 'OrganizationUpdated', data: { changes: { name: 'acme2', sessionTimeout: 60 } } })
      .when(update({ name: 'acme2', sessionTimeout: null }))
      .yields({ type: 'OrganizationUpdated', data: { changes: { sessionTimeout: null } } }));

  it('moves to another feature set', () =>
    given(born)
      .when(changeTo('free'))
      .yields({ type: 'OrganizationFeatureSetChanged', data: { featureSet: 'free' } }));

  it('says nothing of the feature set that it has', () => {
    given(born).when(changeTo('everything')).yields();
    given(born, { type: 'OrganizationFeatureSetChanged', data: { featureSet: 'free' } })
      .when(changeTo('free'))
      .yields();
  });

  it('is deleted under the name that it had last', () =>
    given(born, { type: 'OrganizationUpdated', data: { changes: { name: 'acme2' } } })
      .when(remove)
      .yields({ type: 'OrganizationDeleted', data: { name: 'acme2' } }));

  it.each([remove, update({ email: 'x@y.test' }), changeTo('free')])('is gone for good: $type', (command) =>
    given(born, gone).when(command).refuses('not-found', 'Not found'),
  );

  it('that is gone is not born again under its id', () =>
    given(born, gone).when(create({})).refuses('conflict', 'Organization exists already'));
});

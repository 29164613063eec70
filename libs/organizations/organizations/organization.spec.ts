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
const limit = (maxTtls: object) => ({ type: 'ChangeTokenTtlPolicies', data: { maxTtls } }) as const;
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

  it('has a name that is neither too short nor too long', () => {
    given()
      .when(create({ name: 'ab' }))
      .refuses('unprocessable', 'Name is too short (at least 3 characters)');
    given(born)
      .when(update({ name: 'x'.repeat(41) }))
      .refuses('unprocessable', 'Name is too long (at most 40 characters)');
  });

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

  it('limits the life of tokens by type, and records only the limits that change', () => {
    const day = 86_400_000;
    const limited: OrganizationEvent = {
      type: 'OrganizationTokenTtlPoliciesChanged',
      data: { maxTtls: { team: day } },
    };
    given(born)
      .when(limit({ team: day, user: 63_113_904_000 }))
      .yields(limited);
    given(born, limited)
      .when(limit({ team: day }))
      .yields();
    given(born, gone)
      .when(limit({ team: day }))
      .refuses('not-found', 'Not found');
  });

  describe('with agents by default', () => {
    const agent = { defaultExecutionMode: 'agent', defaultAgentPool: 'apool-1' } as const;
    const withAgents: OrganizationEvent = { type: 'OrganizationUpdated', data: { changes: agent } };

    it('names their pool', () => {
      given(born)
        .when(update({ defaultExecutionMode: 'agent' }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode");
      given(born)
        .when(update(agent))
        .yields({ type: 'OrganizationUpdated', data: { changes: agent } });
      given()
        .when(create({ settings: { defaultExecutionMode: 'agent' } }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode");
    });

    it('does not lose the pool while the mode is agent', () =>
      given(born, withAgents)
        .when(update({ defaultAgentPool: null }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode"));

    it('leaves the pool with the mode', () =>
      given(born, withAgents)
        .when(update({ defaultExecutionMode: 'local' }))
        .yields({
          type: 'OrganizationUpdated',
          data: { changes: { defaultExecutionMode: 'local', defaultAgentPool: null } },
        }));

    it('names no pool for another mode', () => {
      for (const command of [
        update({ defaultAgentPool: 'apool-1' }),
        update({ defaultExecutionMode: 'remote', defaultAgentPool: 'apool-1' }),
      ]) {
        given(born).when(command).refuses('unprocessable', "must not be specified unless using 'agent' execution mode");
      }
    });

    it('may have got there without a pool, before there were any, and changes other things still', () =>
      given(born, { type: 'OrganizationUpdated', data: { changes: { defaultExecutionMode: 'agent' } } })
        .when(update({ sessionTimeout: 5 }))
        .yields({ type: 'OrganizationUpdated', data: { changes: { sessionTimeout: 5 } } }));
  });

  it('tells pull requests of their plans in one way or the other', () => {
    const passing = { sendPassingStatusesForUntriggeredSpeculativePlans: true };
    const aggregated = { aggregatedCommitStatusEnabled: true };
    const onePassing = { ...passing, aggregatedCommitStatusEnabled: false };
    given(born)
      .when(update(passing))
      .yields({ type: 'OrganizationUpdated', data: { changes: onePassing } });
    given(born, { type: 'OrganizationUpdated', data: { changes: onePassing } })
      .when(update(aggregated))
      .yields({
        type: 'OrganizationUpdated',
        data: { changes: { ...aggregated, sendPassingStatusesForUntriggeredSpeculativePlans: false } },
      });
    given(born)
      .when(update({ ...passing, ...aggregated }))
      .refuses('unprocessable', 'Aggregated commit status cannot be enabled');
  });

  it('moves to another feature set', () =>
    given(born)
      .when(changeTo('free'))
      .yields({ type: 'OrganizationFeatureSetChanged', data: { featureSet: 'free', trailBegins: 'after_change' } }));

  it('says nothing of the feature set that it has', () => {
    given(born).when(changeTo('everything')).yields();
    given(born, { type: 'OrganizationFeatureSetChanged', data: { featureSet: 'free', trailBegins: 'after_change' } })
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

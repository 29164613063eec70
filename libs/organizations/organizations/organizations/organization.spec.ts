import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS, organization, type OrganizationEvent } from './organization.js';

const { given } = specify(organization);

const creation = {
  name: 'acme',
  email: 'ops@acme.test',
  featureSet: 'everything',
  settings: {},
  defaultProject: 'prj-1',
  ownersTeam: 'team-1',
} as const;
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { ...creation, settings: DEFAULT_SETTINGS },
};
const deleted: OrganizationEvent = { type: 'OrganizationDeleted', data: { name: 'acme' } };
const create = (more: object) => ({ type: 'CreateOrganization', data: { ...creation, ...more } }) as const;
const update = (changes: object) => ({ type: 'UpdateOrganization', data: { changes } }) as const;
const changeTo = (featureSet: 'everything' | 'free') => ({ type: 'ChangeFeatureSet', data: { featureSet } }) as const;
const limit = (maxTtls: object) => ({ type: 'ChangeTokenTtlPolicies', data: { maxTtls } }) as const;
const remove = { type: 'DeleteOrganization', data: {} } as const;

describe('an organization', () => {
  it('is created with defaults for missing settings', () =>
    given()
      .when(create({ settings: { assessmentsEnforced: true } }))
      .yields({
        type: 'OrganizationCreated',
        data: { ...creation, settings: { ...DEFAULT_SETTINGS, assessmentsEnforced: true } },
      }));

  it.each(['abc', 'a-b_C9', 'x'.repeat(40)])('may have the name %s', (name) =>
    given()
      .when(create({ name }))
      .yields({ type: 'OrganizationCreated', data: { ...creation, name, settings: DEFAULT_SETTINGS } }),
  );

  it.each(['with space', 'dotted.name', 'ünïcode', 'a/b', 'line\nbreak', 'acme\n', '..'])(
    'refuses the name %j',
    (name) => {
      given().when(create({ name })).refuses('unprocessable', 'Name may only contain');
      given(created).when(update({ name })).refuses('unprocessable', 'Name may only contain');
    },
  );

  it('refuses a name that is too short or too long', () => {
    given()
      .when(create({ name: 'ab' }))
      .refuses('unprocessable', 'Name is too short (at least 3 characters)');
    given(created)
      .when(update({ name: 'x'.repeat(41) }))
      .refuses('unprocessable', 'Name is too long (at most 40 characters)');
  });

  it('requires a name and an email address', () => {
    given()
      .when(create({ name: '' }))
      .refuses('unprocessable', "Name can't be blank");
    given()
      .when(create({ email: ' ' }))
      .refuses('unprocessable', "Email can't be blank");
    given(created)
      .when(update({ email: '' }))
      .refuses('unprocessable', "Email can't be blank");
  });

  it('is created once', () => given(created).when(create({})).refuses('conflict', 'Organization exists already'));

  it('records only the attributes that an update changes', () =>
    given(created)
      .when(update({ name: 'acme', email: 'new@acme.test', assessmentsEnforced: false, sessionTimeout: 60 }))
      .yields({ type: 'OrganizationUpdated', data: { changes: { email: 'new@acme.test', sessionTimeout: 60 } } }));

  it('records no event if an update changes nothing', () =>
    given(created)
      .when(update({ name: 'acme' }))
      .yields());

  it('compares an update with the last change', () =>
    given(created, { type: 'OrganizationUpdated', data: { changes: { name: 'acme2', sessionTimeout: 60 } } })
      .when(update({ name: 'acme2', sessionTimeout: null }))
      .yields({ type: 'OrganizationUpdated', data: { changes: { sessionTimeout: null } } }));

  it('limits the lifetime of tokens by type, and records only the limits that change', () => {
    const day = 86_400_000;
    const limited: OrganizationEvent = {
      type: 'OrganizationTokenTtlPoliciesChanged',
      data: { maxTtls: { team: day } },
    };
    given(created)
      .when(limit({ team: day, user: 63_113_904_000 }))
      .yields(limited);
    given(created, limited)
      .when(limit({ team: day }))
      .yields();
    given(created, deleted)
      .when(limit({ team: day }))
      .refuses('not-found', 'Not found');
  });

  describe('with agents by default', () => {
    const agent = { defaultExecutionMode: 'agent', defaultAgentPool: 'apool-1' } as const;
    const withAgents: OrganizationEvent = { type: 'OrganizationUpdated', data: { changes: agent } };

    it('requires a pool for the agent mode', () => {
      given(created)
        .when(update({ defaultExecutionMode: 'agent' }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode");
      given(created)
        .when(update(agent))
        .yields({ type: 'OrganizationUpdated', data: { changes: agent } });
      given()
        .when(create({ settings: { defaultExecutionMode: 'agent' } }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode");
    });

    it('keeps its pool while the mode is agent', () =>
      given(created, withAgents)
        .when(update({ defaultAgentPool: null }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode"));

    it('loses its pool with another mode', () =>
      given(created, withAgents)
        .when(update({ defaultExecutionMode: 'local' }))
        .yields({
          type: 'OrganizationUpdated',
          data: { changes: { defaultExecutionMode: 'local', defaultAgentPool: null } },
        }));

    it('refuses a pool for another mode', () => {
      for (const command of [
        update({ defaultAgentPool: 'apool-1' }),
        update({ defaultExecutionMode: 'remote', defaultAgentPool: 'apool-1' }),
      ]) {
        given(created)
          .when(command)
          .refuses('unprocessable', "must not be specified unless using 'agent' execution mode");
      }
    });

    it('may change other settings while it has the agent mode without a pool, as in old logs', () =>
      given(created, { type: 'OrganizationUpdated', data: { changes: { defaultExecutionMode: 'agent' } } })
        .when(update({ sessionTimeout: 5 }))
        .yields({ type: 'OrganizationUpdated', data: { changes: { sessionTimeout: 5 } } }));
  });

  it('sends either aggregated or passing statuses to pull requests', () => {
    const passing = { sendPassingStatusesForUntriggeredSpeculativePlans: true };
    const aggregated = { aggregatedCommitStatusEnabled: true };
    const onePassing = { ...passing, aggregatedCommitStatusEnabled: false };
    given(created)
      .when(update(passing))
      .yields({ type: 'OrganizationUpdated', data: { changes: onePassing } });
    given(created, { type: 'OrganizationUpdated', data: { changes: onePassing } })
      .when(update(aggregated))
      .yields({
        type: 'OrganizationUpdated',
        data: { changes: { ...aggregated, sendPassingStatusesForUntriggeredSpeculativePlans: false } },
      });
    given(created)
      .when(update({ ...passing, ...aggregated }))
      .refuses('unprocessable', 'Aggregated commit status cannot be enabled');
  });

  it('changes to another feature set', () =>
    given(created)
      .when(changeTo('free'))
      .yields({ type: 'OrganizationFeatureSetChanged', data: { featureSet: 'free', trailBegins: 'after_change' } }));

  it('records no event for the present feature set', () => {
    given(created).when(changeTo('everything')).yields();
    given(created, { type: 'OrganizationFeatureSetChanged', data: { featureSet: 'free', trailBegins: 'after_change' } })
      .when(changeTo('free'))
      .yields();
  });

  it('records the export that it was imported from', () => {
    const origin = {
      archive: '0b9f2c50-7c2b-4a9e-9a51-6f5f1f0e7c11',
      source: 'https://old.example',
      position: 7,
      exportedAt: '2026-11-24T10:00:00.000Z',
      events: 5,
      trailCheckpoint: null,
    };
    given(created)
      .when({ type: 'CompleteImport', data: origin })
      .yields({ type: 'OrganizationImported', data: origin });
    given().when({ type: 'CompleteImport', data: origin }).refuses('not-found', 'Not found');
  });

  it('is deleted under its last name', () =>
    given(created, { type: 'OrganizationUpdated', data: { changes: { name: 'acme2' } } })
      .when(remove)
      .yields({ type: 'OrganizationDeleted', data: { name: 'acme2' } }));

  it.each([remove, update({ email: 'x@y.test' }), changeTo('free')])(
    'refuses commands after its deletion: $type',
    (command) => given(created, deleted).when(command).refuses('not-found', 'Not found'),
  );

  it('is not created again under the same id after its deletion', () =>
    given(created, deleted).when(create({})).refuses('conflict', 'Organization exists already'));
});

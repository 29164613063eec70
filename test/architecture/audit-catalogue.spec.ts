import { describe, expect, it } from '@jest/globals';
import { formatRowName, OWN_RESOURCE_TYPES, CATALOGUE_ROWS } from '#facts';
import { eventRegistry } from '../../apps/modules.js';
import { auditedEvents as tellings, unauditedEvents } from '../docs/catalogue.js';

/** The contract's catalogue, §6.1 and §6.2, as far as it tells the identifiers. */
const CATALOGUE: Readonly<Record<string, string>> = {
  agent: 'destroy',
  authentication_token: 'create show destroy',
  configuration_version: 'show download',
  data_retention_policy: 'destroy',
  notification_configuration: 'create update destroy enable',
  oauth_client: 'create update destroy',
  oauth_token: 'index show update destroy',
  organization: 'create update destroy',
  organization_user: 'create update destroy',
  policy: 'update destroy',
  policy_check: 'override',
  policy_config: 'create',
  policy_set: 'destroy',
  policy_version: 'create',
  project: 'create update destroy add_team update_team_permissions remove_team',
  registry_module: 'destroy update destroy_version',
  registry_provider: 'create destroy',
  registry_provider_platform: 'create destroy',
  registry_provider_version: 'create destroy',
  run: 'apply cancel force_cancel discard force_execute create',
  run_trigger: 'create destroy',
  saml_configuration: 'create update destroy enable disable',
  ssh_key: 'index show create update destroy',
  stack: 'create',
  state_version: 'index show create soft_delete_backing_data restore_backing_data permanently_delete_backing_data',
  task_stage: 'override',
  team: 'add_member remove_member',
  user: 'index',
  var: 'index show create update destroy',
  vcs_repo: 'create',
  workspace: 'add_team update_team_permissions remove_team',
  workspace_comment: 'create',
  workspace_task: 'create update destroy',
};

const rows = Object.entries(CATALOGUE).flatMap(([type, actions]) => actions.split(' ').map((one) => `${type}.${one}`));

const audits = Object.entries(eventRegistry).flatMap(([event, { audit }]) =>
  'unaudited' in audit ? [] : [{ event, ...audit }],
);

/** What events of our own tell under a name that stands in their audit row. */
const own = new Set(
  audits.flatMap(({ resource, action }) =>
    typeof resource === 'string' && typeof action === 'string' ? [`${resource}.${action}`] : [],
  ),
);

const facts = new Set(CATALOGUE_ROWS.map(formatRowName));

describe('each row of the catalogue', () => {
  it.each(rows)('%s is told by an event of our own, or by whoever owns it, and never by both', (row) => {
    expect([own.has(row), facts.has(row)].filter(Boolean)).toHaveLength(1);
  });
});

describe('facts', () => {
  it('are of nothing that events of our own tell of', () => {
    const types = audits.flatMap(({ resource }) => (typeof resource === 'string' ? [resource] : []));
    expect(types.filter((type) => !OWN_RESOURCE_TYPES.has(type))).toEqual([]);
    expect(CATALOGUE_ROWS.filter(({ type }) => OWN_RESOURCE_TYPES.has(type))).toEqual([]);
  });

  it('have the only event whose data says what it is about', () => {
    expect(audits.flatMap(({ event, resource }) => (typeof resource === 'string' ? [] : [event]))).toEqual([
      'AuditFactReported',
    ]);
  });
});

/** What stands under `meta` where the contract wants something in particular of what is ours (§6.2). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'data_retention_policy.destroy': ['delete_older_than_n_days', 'organization', 'organization_id'],
  'project.add_team': ['team', 'permissions'],
  'project.update_team_permissions': ['team', 'permissions'],
  'project.remove_team': ['team'],
  'workspace.add_team': ['team', 'permissions'],
  'workspace.update_team_permissions': ['team', 'permissions'],
  'workspace.remove_team': ['team'],
  'team.add_member': ['user'],
  'team.remove_member': ['user'],
  'workspace_comment.create': ['resource'],
};

describe('the catalogue as one table (docs/reference/audit-catalogue.md)', () => {
  it('has each event type, or says why it is told nowhere', () => {
    const known = [...tellings.map(({ event }) => event), ...unauditedEvents.map(({ event }) => event)];
    expect([...new Set(known)].toSorted()).toEqual(Object.keys(eventRegistry).toSorted());
    expect(unauditedEvents.filter(({ why }) => !/\w+ \w+/.test(why))).toEqual([]);
  });

  it('names resources, actions and fields in the one way of the contract, and says whose id it is', () => {
    const word = /^[a-z]+\d*(?:_[a-z]+)*$/;
    for (const { type, action, event, ids, meta } of tellings) {
      const names = [type, action, ...(event === 'AuditFactReported' ? [] : (meta ?? []))];
      expect({ event, astray: names.filter((name) => !word.test(name)) }).toEqual({ event, astray: [] });
      expect({ event, ids: ids.filter((id) => id !== '') }).not.toEqual({ event, ids: [] });
      expect({ event, meta }).not.toEqual({ event, meta: [] });
    }
  });

  it.each(Object.entries(FIELDS))('has the fields of %s exactly', (row, fields) => {
    const rows = tellings.filter(({ type, action }) => `${type}.${action}` === row);
    expect(rows.map(({ meta }) => meta)).toEqual([fields]);
  });
});

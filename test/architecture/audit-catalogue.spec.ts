import { describe, expect, it } from '@jest/globals';
import { formatRowName, OWN_RESOURCE_TYPES, CATALOGUE_ROWS } from '#activity/facts';
import { eventRegistry } from '../../apps/modules.js';
import { auditedEvents, unauditedEvents } from '../docs/catalogue.js';

/** The resource types and actions that the entries of the audit trail must have. Consumers of the trail rely on them. */
const CATALOGUE: Readonly<Record<string, string>> = {
  agent: 'destroy',
  authentication_token: 'create show destroy',
  configuration_version: 'show download',
  data_retention_policy: 'destroy',
  notification_configuration: 'create update destroy enable',
  oauth_client: 'create update destroy',
  oauth_token: 'index show create update destroy',
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

/** Identifiers that Cadastre's own events record, if the audit row names them. */
const own = new Set(
  audits.flatMap(({ resource, action }) =>
    typeof resource === 'string' && typeof action === 'string' ? [`${resource}.${action}`] : [],
  ),
);

const facts = new Set(CATALOGUE_ROWS.map(formatRowName));

describe('a row of the catalogue', () => {
  it.each(rows)('is recorded either by an event of Cadastre or by a fact, never by both: %s', (row) => {
    expect([own.has(row), facts.has(row)].filter(Boolean)).toHaveLength(1);
  });
});

describe('a fact', () => {
  it('never has a resource type that events of Cadastre record', () => {
    const types = audits.flatMap(({ resource }) => (typeof resource === 'string' ? [resource] : []));
    expect(types.filter((type) => !OWN_RESOURCE_TYPES.has(type))).toEqual([]);
    expect(CATALOGUE_ROWS.filter(({ type }) => OWN_RESOURCE_TYPES.has(type))).toEqual([]);
  });

  it('is the only event whose data names the resource', () => {
    expect(audits.flatMap(({ event, resource }) => (typeof resource === 'string' ? [] : [event]))).toEqual([
      'AuditFactReported',
    ]);
  });
});

/** The fields of `meta` that consumers rely on in Cadastre's own entries. */
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
  it('contains each event type, or the reason why the trail does not record it', () => {
    const listed = [...auditedEvents.map(({ event }) => event), ...unauditedEvents.map(({ event }) => event)];
    expect([...new Set(listed)].toSorted()).toEqual(Object.keys(eventRegistry).toSorted());
    expect(unauditedEvents.filter(({ why }) => !/\w+ \w+/.test(why))).toEqual([]);
  });

  it('names resources, actions and fields in lower case with underscores, and the source of each id', () => {
    const word = /^[a-z]+\d*(?:_[a-z]+)*$/;
    for (const { type, action, event, ids, meta } of auditedEvents) {
      const names = [type, action, ...(event === 'AuditFactReported' ? [] : (meta ?? []))];
      expect({ event, invalid: names.filter((name) => !word.test(name)) }).toEqual({ event, invalid: [] });
      expect({ event, ids: ids.filter((id) => id !== '') }).not.toEqual({ event, ids: [] });
      expect({ event, meta }).not.toEqual({ event, meta: [] });
    }
  });

  it.each(Object.entries(FIELDS))('has exactly these fields of %s', (row, fields) => {
    const rows = auditedEvents.filter(({ type, action }) => `${type}.${action}` === row);
    expect(rows.map(({ meta }) => meta)).toEqual([fields]);
  });
});

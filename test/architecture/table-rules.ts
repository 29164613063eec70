/**
 * Which module may read which tables (ADR 40). Migrations say which module owns a table;
 * test/architecture/tables.spec.ts compares these rules with every statement in `libs`.
 */

/** Tables that belong to another module than the module whose migration creates them. Migrations cannot move. */
export const MOVED_TABLES: Readonly<Record<string, string>> = {
  'access.epochs': 'access',
  'access.token_hashes': 'access',
  'access.token_uses': 'access',
  'event_store.person_keys': 'personal-data',
  'views.project_tags': 'organizations',
};

/** The tables of a module that modules above it may read. Their columns are a public API of the module. */
export const PUBLISHED_TABLES: Readonly<Record<string, readonly string[]>> = {
  access: ['token_hashes', 'token_uses'],
  agents: ['agent_pools'],
  'audit-trail': ['leaves', 'logs'],
  'audit-trail-log': ['log_keys', 'signed_checkpoints'],
  connections: ['oauth_clients'],
  'data-retention-policies': ['data_retention_policies'],
  'event-store': ['events', 'streams'],
  organizations: ['deleted_projects', 'organizations', 'project_tags', 'projects'],
  people: ['team_projects', 'teams', 'users'],
  'personal-data': ['person_keys'],
  registry: ['deleted_registry_providers'],
  runs: ['assessment_results', 'configuration_versions', 'runs'],
  'ssh-keys': ['ssh_keys'],
  state: ['state_versions'],
  variables: ['deleted_variable_sets'],
  workspaces: ['deleted_workspaces', 'workspace_counts', 'workspace_tags', 'workspaces'],
};

/**
 * A module reads tables of a module that is not below it. Add no entry: declare a port, or publish a query.
 */
type UpwardRead = {
  readonly reader: string;
  readonly owner: string;
  readonly tables: readonly string[];
  readonly reason: string;
};

const PERMISSIONS = 'one statement reads a resource together with the permissions of the caller (ADR 14)';
const DOCUMENT = 'one statement reads a document with everything that the document shows';

export const UPWARD_READS: readonly UpwardRead[] = [
  { reader: 'access', owner: 'agents', tables: ['agent_pools'], reason: PERMISSIONS },
  { reader: 'access', owner: 'ip-allowlists', tables: ['ip_allowlist_ranges', 'ip_allowlists'], reason: PERMISSIONS },
  { reader: 'access', owner: 'organizations', tables: ['organizations'], reason: PERMISSIONS },
  {
    reader: 'access',
    owner: 'people',
    tables: [
      'authentication_tokens',
      'organization_memberships',
      'sessions',
      'team_members',
      'team_projects',
      'team_workspaces',
      'teams',
      'users',
    ],
    reason: PERMISSIONS,
  },
  { reader: 'access', owner: 'runs', tables: ['runs'], reason: PERMISSIONS },
  { reader: 'access', owner: 'workspaces', tables: ['remote_state_consumers', 'workspaces'], reason: PERMISSIONS },
  { reader: 'agents', owner: 'organizations', tables: ['organizations', 'projects'], reason: DOCUMENT },
  { reader: 'agents', owner: 'workspaces', tables: ['workspaces'], reason: DOCUMENT },
  { reader: 'organizations', owner: 'workspaces', tables: ['workspace_counts', 'workspaces'], reason: DOCUMENT },
  { reader: 'people', owner: 'agents', tables: ['agent_pools'], reason: DOCUMENT },
  { reader: 'people', owner: 'organizations', tables: ['organizations', 'projects'], reason: DOCUMENT },
  { reader: 'people', owner: 'workspaces', tables: ['workspaces'], reason: PERMISSIONS },
  { reader: 'state', owner: 'runs', tables: ['runs'], reason: DOCUMENT },
  {
    reader: 'tag-bindings',
    owner: 'organizations',
    tables: ['organizations', 'project_tags', 'projects'],
    reason: DOCUMENT,
  },
  { reader: 'tag-bindings', owner: 'tags', tables: ['reserved_tag_keys'], reason: DOCUMENT },
  { reader: 'tag-bindings', owner: 'workspaces', tables: ['workspace_tags', 'workspaces'], reason: DOCUMENT },
  {
    reader: 'workspaces',
    owner: 'runs',
    tables: ['assessment_results', 'configuration_versions', 'workspace_metrics', 'workspace_runs'],
    reason: DOCUMENT,
  },
  { reader: 'workspaces', owner: 'state', tables: ['state_version_outputs'], reason: DOCUMENT },
  { reader: 'workspaces', owner: 'variables', tables: ['variables'], reason: DOCUMENT },
];

import { toMany, toOne, type Resource } from '#api/json-api';
import type { PolicySetRow } from './policy-sets.view.js';
import type { RegoPolicyRow } from './policies.view.js';

const toOrganization = ({ organizationName: name }: { readonly organizationName: string }) =>
  toOne('organizations', name, `/api/v2/organizations/${name}`);

export const renderPolicy = (row: RegoPolicyRow): Resource => ({
  id: row.id,
  type: 'policies',
  attributes: {
    description: row.description,
    // The attribute of clients from before `enforcement-level`.
    enforce: [{ path: `${row.name}.rego`, mode: row.enforcementLevel }],
    'enforcement-level': row.enforcementLevel,
    kind: 'opa',
    name: row.name,
    'policy-set-count': row.policySets.length,
    query: row.query,
    'updated-at': row.uploadedAt,
  },
  relationships: { organization: toOrganization(row), 'policy-sets': toMany('policy-sets', row.policySets) },
  links: {
    self: `/api/v2/policies/${row.id}`,
    upload: `/api/v2/policies/${row.id}/upload`,
    download: `/api/v2/policies/${row.id}/download`,
  },
});

export const renderPolicySet = (row: PolicySetRow): Resource => ({
  id: row.id,
  type: 'policy-sets',
  attributes: {
    'agent-enabled': true,
    'created-at': row.createdAt,
    description: row.description,
    global: row.global,
    kind: 'opa',
    name: row.name,
    overridable: row.overridable,
    'policies-path': null,
    'policy-count': row.members.policies.length,
    'policy-tool-version': row.toolVersion ?? 'latest',
    'policy-update-patterns': [],
    'project-count': row.members.projects.length,
    'updated-at': row.updatedAt,
    'vcs-repo': null,
    versioned: false,
    'workspace-count': row.members.workspaces.length,
  },
  relationships: {
    'current-version': toOne('policy-set-versions', null),
    'newest-version': toOne('policy-set-versions', null),
    organization: toOrganization(row),
    policies: toMany('policies', row.members.policies),
    'project-exclusions': toMany('projects', row.members['project-exclusions']),
    projects: toMany('projects', row.members.projects),
    'workspace-exclusions': toMany('workspaces', row.members['workspace-exclusions']),
    workspaces: toMany('workspaces', row.members.workspaces),
  },
  links: { self: `/api/v2/policy-sets/${row.id}` },
});

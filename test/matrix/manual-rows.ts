import { describe, expect, it } from '@jest/globals';
import type { MatrixResults } from './describe-matrix.js';
import { nameOf } from './matrix.js';

const OWNERS = ['owner', 'owner with a session', 'site admin', 'token of the owners'] as const;
const MANAGERS = [...OWNERS, 'manageWorkspaces in the organization', 'manageProjects in the organization'] as const;
const READERS = [...MANAGERS, 'readWorkspaces in the organization', 'readProjects in the organization'] as const;
const ORGANIZATION = 'token of the organization';
const RUNS = ['token of a run in the workspace', 'token of a run in a consumer'] as const;

const WRITERS = [
  'write on the workspace',
  'write on the workspace, with a session',
  'admin on the workspace',
  'write on the project',
  'maintain on the project',
  'admin on the project',
  'token of a team, write',
] as const;
const ADMINS = ['admin on the workspace', 'maintain on the project', 'admin on the project'] as const;

/**
 * Callers that succeed, by name. A mistake in the permission table
 * would also be in the expectations of the matrix. These rows find it.
 */
export const BY_HAND: Readonly<Record<string, readonly string[]>> = {
  'POST /workspaces/:id/actions/lock': [
    ...WRITERS,
    ...MANAGERS,
    ORGANIZATION,
    'custom on the workspace, workspaceLocking true',
    'custom on the project, locking true',
  ],
  'POST /workspaces/:id/actions/force-unlock': [...ADMINS, ...MANAGERS, ORGANIZATION],
  'PATCH /workspaces/:id': [...ADMINS, ...MANAGERS, ORGANIZATION],
  // The token of an organization can neither assign SSH keys nor delete the data of states.
  'PATCH /workspaces/:id/relationships/ssh-key': [...ADMINS, ...MANAGERS],
  'POST /workspaces/:id/relationships/data-retention-policy': [...ADMINS, ...MANAGERS],
  'POST /workspaces/:id/notification-configurations': [...ADMINS, ...MANAGERS, ORGANIZATION],
  'POST /organizations/:organization/notification-configurations': [...OWNERS],
  'POST /teams/:id/notification-configurations, a visible team': [
    ...OWNERS,
    ORGANIZATION,
    'manageTeams in the organization',
  ],
  'POST /teams/:id/notification-configurations, the team of owners': [...OWNERS],
  'PATCH /workspaces/:id, into another project': [...OWNERS, 'manageProjects in the organization', ORGANIZATION],
  'POST /organizations/:organization/workspaces, in the default project': [...MANAGERS, ORGANIZATION],
  'POST /organizations/:organization/workspaces, in the project': [
    ...MANAGERS,
    ORGANIZATION,
    'maintain on the project',
    'admin on the project',
    'custom on the project, create true',
  ],
  'PATCH /workspaces/:id/relationships/remote-state-consumers': [...MANAGERS, ORGANIZATION],
  'POST /workspaces/:id/actions/safe-delete': [
    ...ADMINS,
    ...MANAGERS,
    ORGANIZATION,
    'custom on the project, delete true',
  ],
  'DELETE /workspaces/:id': [...OWNERS],
  'DELETE /workspaces/:id, if admins may do so': [...ADMINS, ...MANAGERS, ORGANIZATION],
  // The token of an organization cannot upload states. A caller that may store but not lock finds the workspace
  // unlocked.
  'POST /workspaces/:id/state-versions': [...WRITERS, ...MANAGERS],
  'GET /state-versions/:id/download': [
    ...READERS,
    ...WRITERS,
    ORGANIZATION,
    'read on the workspace',
    'plan on the workspace',
    'read on the project',
    'custom on the workspace, stateVersions read',
    'custom on the workspace, stateVersions write',
    'custom on the project, stateVersions read',
    'custom on the project, stateVersions write',
    ...RUNS,
  ],
  // Access of a run to a state does not include variables.
  'GET /workspaces/:id/vars': [
    ...READERS,
    ...WRITERS,
    ORGANIZATION,
    'read on the workspace',
    'plan on the workspace',
    'read on the project',
    'custom on the workspace, variables read',
    'custom on the workspace, variables write',
    'custom on the project, variables read',
    'custom on the project, variables write',
    'token of a run in the workspace',
  ],

  'POST /runs': [
    ...WRITERS,
    ...MANAGERS,
    'plan on the workspace',
    'custom on the workspace, runs plan',
    'custom on the workspace, runs apply',
    'custom on the project, runs plan',
    'custom on the project, runs apply',
  ],
  'POST /runs/:id/actions/apply': [
    ...WRITERS,
    ...MANAGERS,
    'custom on the workspace, runs apply',
    'custom on the project, runs apply',
  ],
  'POST /runs/:id/progress': ['token of an agent'],
  'POST /runs/:id/authentication-tokens': ['token of an agent'],
  'POST /workspaces/:id/vars': [
    ...WRITERS,
    ...MANAGERS,
    ORGANIZATION,
    'custom on the workspace, variables write',
    'custom on the project, variables write',
  ],

  'PATCH /organizations/:organization': [...OWNERS],
  'POST /organizations/:organization/relationships/data-retention-policy': [...OWNERS],
  'DELETE /organizations/:organization': [...OWNERS],
  'GET /organization/audit-trail': [ORGANIZATION, 'token for the audit trail'],
  'GET /organizations/:organization/audit-trail': [...OWNERS, ORGANIZATION, 'token for the audit trail'],
  'GET /admin/audit-trail': ['site admin'],
  'POST /admin/organizations/:organization/subscription': ['site admin'],
  'PATCH /admin/organizations/:organization': ['site admin'],
  'PATCH /projects/:id': [
    ...OWNERS,
    ORGANIZATION,
    'manageProjects in the organization',
    'admin on the project',
    'custom on the project, settings update',
    'custom on the project, settings delete',
  ],
  // `custom` access gives no admin access to the workspaces of the project.
  'PATCH /projects/:id, the mode in which its workspaces execute runs': [
    ...OWNERS,
    ORGANIZATION,
    'manageProjects in the organization',
    'admin on the project',
  ],
  'DELETE /projects/:id': [
    ...OWNERS,
    ORGANIZATION,
    'manageProjects in the organization',
    'admin on the project',
    'custom on the project, settings delete',
  ],
  'POST /organizations/:organization/oauth-clients': [...OWNERS, 'manageVcsSettings in the organization'],
  'POST /organizations/:organization/tasks': [...OWNERS, 'manageRunTasks in the organization'],
  'POST /workspaces/:workspace/tasks': [
    ...OWNERS,
    'manageRunTasks in the organization',
    'admin on the workspace',
    'admin on the project',
    'maintain on the project',
    'custom on the workspace, runTasks true',
    'custom on the project, runTasks true',
  ],
  'POST /organizations/:organization/ssh-keys': [...OWNERS, 'manageVcsSettings in the organization'],
  'POST /organizations/:organization/registry-providers': [...OWNERS, 'manageProviders in the organization'],
  'POST /organizations/:organization/registry-providers/:registryName/:namespace/:name/versions': [
    ...OWNERS,
    'manageProviders in the organization',
  ],
  'POST /organizations/:organization/registry-modules': [...OWNERS, 'manageModules in the organization'],
  'PATCH /api/registry/private/v2/gpg-keys/:namespace/:keyId, to another organization': ['site admin'],
  'DELETE /organizations/:organization/tags': [...MANAGERS, ORGANIZATION],
  'POST /organizations/:organization/reserved-tag-keys': [...MANAGERS, ORGANIZATION],
  'POST /organizations/:organization/agent-pools': [...OWNERS, ORGANIZATION, 'manageAgentPools in the organization'],
  'POST /organizations/:organization/agent-pools, for remote runs': [...OWNERS],
  'PATCH /agent-pools/:id, to execute remote runs': [...OWNERS],
  'PATCH /agent-pools/:id, the scope of a pool for remote runs': [...OWNERS],
  'DELETE /agent-pools/:id, a pool for remote runs': [...OWNERS],
  'POST /agent-pools/:id/authentication-tokens': [...OWNERS, 'manageAgentPools in the organization'],
  'POST /agent-pools/:id/authentication-tokens, of a pool for remote runs': [...OWNERS],
  'POST /runs/:id/authentication-tokens, in remote mode, by agents of a pool that no owner has chosen': [],

  'POST /organizations/:organization/teams': [...OWNERS, ORGANIZATION, 'manageTeams in the organization'],
  'POST /organizations/:organization/teams, with access to the organization': [...OWNERS, ORGANIZATION],
  'POST /teams/:id/relationships/users': [...OWNERS, ORGANIZATION, 'manageMembership in the organization'],
  'POST /teams/:id/relationships/users, the team of owners': [...OWNERS],
  'POST /teams/:id/authentication-tokens, the team of owners': [...OWNERS],
  'POST /teams/:id/authentication-tokens, a visible team': [...OWNERS, ORGANIZATION, 'manageTeams in the organization'],
  'POST /organizations/:organization/authentication-token': [...OWNERS],
  'POST /users/:id/authentication-tokens, a member’s': ['site admin', 'member of a team without access'],
  'POST /team-workspaces': [...ADMINS, ...MANAGERS, ORGANIZATION],
  'POST /team-projects': [
    ...OWNERS,
    ORGANIZATION,
    'manageProjects in the organization',
    'admin on the project',
    'custom on the project, teams manage',
  ],
};

const succeeding = (answers: ReadonlyMap<string, string> | undefined): string[] =>
  [...(answers ?? [])].filter(([, answer]) => answer.startsWith('2')).map(([caller]) => caller);

export const describeByHand = ({ rows, answers }: MatrixResults): void => {
  const names = new Set(rows.map(nameOf));
  describe('the callers that succeed are those that are written by hand here', () => {
    it.each(Object.entries(BY_HAND).filter(([name]) => names.has(name)))('%s', (name, callers) => {
      expect(succeeding(answers.get(name)).toSorted()).toEqual([...callers].toSorted());
    });
  });
};

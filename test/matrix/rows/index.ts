import { access } from './access.js';
import { agentsAndKeys } from './agents.js';
import { assessmentRows } from './assessments.js';
import { auditTrailLogRows } from './audit-trail-log.js';
import { edge } from './edge.js';
import { facts } from './facts.js';
import { flatTagRows } from './flat-tags.js';
import { generalSettingsRows } from './general-settings.js';
import { history } from './history.js';
import { identityProviderRows } from './identity-providers.js';
import { ipAllowlistRows } from './ip-allowlists.js';
import { modules } from './modules.js';
import { notificationsOfOrganizations, notificationsOfTeams, notificationsOfWorkspaces } from './notifications.js';
import { oauthRows } from './oauth.js';
import { oidcIssuerRows } from './oidc-issuer.js';
import { organizations } from './organizations.js';
import { people } from './people.js';
import { policyRows } from './policies.js';
import { recoverableItemRows } from './recoverable-items.js';
import { registry } from './registry.js';
import { retentionOfOrganizations, retentionOfWorkspaces } from './retention.js';
import { runTriggerRows } from './run-triggers.js';
import { runs } from './runs.js';
import { runTaskRows, workspaceTaskRows } from './run-tasks.js';
import { savedViewRows } from './saved-views.js';
import { scim } from './scim.js';
import { signInRows } from './sign-in.js';
import { state } from './state.js';
import { tagBindingRows } from './tag-bindings.js';
import { reservedTagKeys } from './tags.js';
import { teamAccess } from './team-access.js';
import { teams } from './teams.js';
import { tokens } from './tokens.js';
import { vcsRows } from './vcs.js';
import { variables } from './variables.js';
import { workloadIdentities } from './workload-identities.js';
import { workspaces } from './workspaces.js';

/** All rows, by the spec that uses them. */
export const ROWS = {
  site: [
    ...edge,
    ...auditTrailLogRows,
    ...facts,
    ...organizations,
    ...generalSettingsRows,
    ...retentionOfOrganizations,
    ...notificationsOfOrganizations,
    ...agentsAndKeys,
    ...vcsRows,
    ...runTaskRows,
    ...policyRows,
    ...ipAllowlistRows,
    ...reservedTagKeys,
    ...registry,
    ...modules,
  ],
  access: [
    ...people,
    ...teams,
    ...tokens,
    ...teamAccess,
    ...access,
    ...identityProviderRows,
    ...oidcIssuerRows,
    ...scim,
    ...workloadIdentities,
    ...notificationsOfTeams,
    ...savedViewRows,
    ...oauthRows,
    // Last, because some of them end all sessions of the caller.
    ...signInRows,
  ],
  workspaces: [
    ...workspaces,
    ...recoverableItemRows,
    ...flatTagRows,
    ...tagBindingRows,
    ...history,
    ...retentionOfWorkspaces,
    ...notificationsOfWorkspaces,
    ...state,
  ],
  runs: [...runs, ...assessmentRows, ...runTriggerRows, ...workspaceTaskRows, ...variables],
} as const;

import { organizationRoute, organizationSettingsRoute, rootRoute, teamRoute, workspaceRoute } from './parent-routes.js';
import { agentPoolRoute } from './screens/agent-pool/agent-pool.routes.js';
import { agentPoolsRoute } from './screens/agent-pools/agent-pools.routes.js';
import {
  changesRoute,
  ownTokensRoute,
  profileRoute,
  sessionsRoute,
  signInRoute,
  terraformTokensRoute,
} from './screens/account/account.routes.js';
import { auditTrailRoute, siteAuditTrailRoute } from './screens/audit-trail/audit-trail.routes.js';
import { healthRoute } from './screens/health/health.routes.js';
import { homeRoute } from './screens/home/home.routes.js';
import { notificationsRoute } from './screens/notifications/notifications.routes.js';
import { organizationsRoute } from './screens/organizations/organizations.routes.js';
import {
  auditSettingsRoute,
  dataRetentionRoute,
  factSourcesRoute,
  firstSectionRoute,
  generalRoute,
  ipAllowlistRoute,
  tokenLifetimesRoute,
} from './screens/organization-settings/organization-settings.routes.js';
import { peopleRoute, tokensRoute } from './screens/people/people.routes.js';
import { policiesRoute, policySetsRoute } from './screens/policies/policies.routes.js';
import { projectRoute, projectsRoute } from './screens/projects/projects.routes.js';
import { providerRoute } from './screens/provider/provider.routes.js';
import { registryRoute } from './screens/registry/registry.routes.js';
import { runTasksRoute } from './screens/run-tasks/run-tasks.routes.js';
import { runTriggersRoute } from './screens/run-triggers/run-triggers.routes.js';
import { runsRoute } from './screens/runs/runs.routes.js';
import { siteRoute } from './screens/site/site.routes.js';
import { recentlyDeletedRoute } from './screens/recently-deleted/recently-deleted.routes.js';
import { sshKeysRoute } from './screens/ssh-keys/ssh-keys.routes.js';
import { siteExecutorsRoute, sitePoolRoute } from './screens/site-executors/site-executors.routes.js';
import { siteOrganizationsRoute } from './screens/site-organizations/site-organizations.routes.js';
import { siteProvidersRoute } from './screens/site-providers/site-providers.routes.js';
import { siteScimRoute } from './screens/site-scim/site-scim.routes.js';
import { siteSettingsRoute } from './screens/site-settings/site-settings.routes.js';
import { siteToolVersionsRoute } from './screens/site-tool-versions/site-tool-versions.routes.js';
import { siteUsersRoute } from './screens/site-users/site-users.routes.js';
import { siteWorkspacesRoute } from './screens/site-workspaces/site-workspaces.routes.js';
import { stateVersionsRoute } from './screens/state-versions/state-versions.routes.js';
import { reservedKeysRoute, tagsRoute } from './screens/tags/tags.routes.js';
import {
  teamAccessRoute,
  teamMembersRoute,
  teamNotificationsRoute,
  teamSettingsRoute,
  teamTokensRoute,
} from './screens/team/team.routes.js';
import { accessRoute, teamsRoute, whyRoute } from './screens/teams/teams.routes.js';
import { variableSetRoute } from './screens/variable-set/variable-set.routes.js';
import { variableSetsRoute } from './screens/variable-sets/variable-sets.routes.js';
import { versionControlRoute } from './screens/version-control/version-control.routes.js';
import { workspaceNotificationsRoute } from './screens/workspace-notifications/workspace-notifications.routes.js';
import { workspaceOverviewRoute } from './screens/workspace-overview/workspace-overview.routes.js';
import {
  terraformRunRoute,
  workspaceRunRoute,
  workspaceRunsRoute,
} from './screens/workspace-runs/workspace-runs.routes.js';
import { workspaceSettingsRoute } from './screens/workspace-settings/workspace-settings.routes.js';
import { workspaceStateRoute } from './screens/workspace-state/workspace-state.routes.js';
import { workspaceTimelineRoute } from './screens/workspace-timeline/workspace-timeline.routes.js';
import { workspaceVariablesRoute } from './screens/workspace-variables/workspace-variables.routes.js';
import { workspacesRoute } from './screens/workspaces/workspaces.routes.js';

/* Every screen of the console. The code of a screen is loaded when a person opens it. */

const workspaceScreens = workspaceRoute.addChildren([
  // One screen a line.
  stateVersionsRoute,
  workspaceNotificationsRoute,
  workspaceOverviewRoute,
  workspaceRunRoute,
  workspaceRunsRoute,
  workspaceSettingsRoute,
  workspaceStateRoute,
  workspaceTimelineRoute,
  workspaceVariablesRoute,
]);

const teamScreens = teamRoute.addChildren([
  // One screen a line.
  teamAccessRoute,
  teamMembersRoute,
  teamNotificationsRoute,
  teamSettingsRoute,
  teamTokensRoute,
]);

const settingsSections = organizationSettingsRoute.addChildren([
  // One section a line.
  agentPoolRoute,
  agentPoolsRoute,
  firstSectionRoute,
  variableSetsRoute,
  variableSetRoute,
  generalRoute,
  dataRetentionRoute,
  tokenLifetimesRoute,
  auditSettingsRoute,
  factSourcesRoute,
  ipAllowlistRoute,
  policiesRoute,
  policySetsRoute,
  runTasksRoute,
  sshKeysRoute,
  versionControlRoute,
  recentlyDeletedRoute,
]);

const organizationScreens = organizationRoute.addChildren([
  // One screen a line.
  runsRoute,
  runTriggersRoute,
  healthRoute,
  terraformRunRoute,
  homeRoute,
  teamsRoute,
  accessRoute,
  whyRoute,
  teamScreens,
  peopleRoute,
  tokensRoute,
  tagsRoute,
  reservedKeysRoute,
  workspacesRoute,
  projectsRoute,
  projectRoute,
  registryRoute,
  providerRoute,
  notificationsRoute,
  auditTrailRoute,
  settingsSections,
  workspaceScreens,
]);

export const routeTree = rootRoute.addChildren([
  // One screen a line.
  organizationsRoute,
  profileRoute,
  signInRoute,
  sessionsRoute,
  ownTokensRoute,
  changesRoute,
  terraformTokensRoute,
  siteRoute,
  siteUsersRoute,
  siteOrganizationsRoute,
  siteWorkspacesRoute,
  siteProvidersRoute,
  siteScimRoute,
  siteExecutorsRoute,
  siteSettingsRoute,
  sitePoolRoute,
  siteToolVersionsRoute,
  siteAuditTrailRoute,
  organizationScreens,
]);

export { publishedWorkspaces } from './workspaces/workspaces.published.js';
export { workspacesDefinition, WorkspacesModule } from './workspaces.module.js';
export type { WorkspaceEvent } from './workspaces/workspace.js';
export { CurrentRuns } from './ports/current-runs.port.js';
export { CurrentStates } from './ports/current-states.port.js';
export { WorkspaceVariables } from './ports/workspace-variables.port.js';
export { AGENT_POOL, EXECUTION_MODE } from './settings/execution.queries.js';
export { stopImportedWorkspaces } from './workspaces/imported-workspaces.operator.js';
export { IDLE_DESTROY_AT } from './settings/auto-destroy.queries.js';
export { buildLockSnapshotJson, type LockSnapshot } from './lock/lock.view.js';
export type { OutputSummary, StateSummary } from './workspaces/state-head.js';
export { findToolOfVersion } from './tool-versions/tool-of-version.js';
export { findOpaRelease, ToolReleases } from './tool-versions/tool-releases.catalogue.js';
export { createExpiredWorkspacesJob } from './workspaces/expired-workspaces.job.js';
export { getDeletionPermission } from './workspaces/workspaces.permissions.js';
export { createExpiredLocksJob } from './lock/expired-locks.job.js';
export {
  SELECT_SITE_OPA_RELEASES,
  SELECT_SITE_RELEASES,
  selectToolVersion,
  type SiteRelease,
} from './tool-versions/tool-versions.view.js';
export type { ToolVersionSettings } from './tool-versions/tool-version.js';
export { failStateVersion } from './workspaces/change-workspace.operation.js';
export { loadWorkspaceLock, type WorkspaceLock } from './lock/workspace-lock.writes.js';
export { ChangeWorkspace } from './workspaces/workspaces.commands.js';
export { WORKSPACE_SETTINGS, type WorkspaceSettings } from './settings/workspace-settings.js';
export { resolveTriggers, triggerAttributes } from './workspaces/workspaces.body.js';
export { selectRelatedWorkspaces } from './workspaces/workspaces.related.js';
export { workspace } from './workspaces/workspace.js';
export type { WorkspaceState } from './workspaces/workspace-state.js';

export { workspacesDefinition } from './workspaces.definition.js';
export type { WorkspaceEvent } from './workspaces/workspace.js';
export type { WorkspaceRow } from './workspaces/workspaces.queries.js';
export { WorkspacesModule } from './workspaces.module.js';
export { CurrentRuns } from './ports/current-runs.port.js';
export { CurrentStates } from './ports/current-states.port.js';
export { AGENT_POOL, EXECUTION_MODE } from './settings/execution.queries.js';
export { buildLockSnapshotJson, type LockSnapshot } from './lock/lock.queries.js';
export type { OutputSummary, StateSummary } from './workspaces/state-head.js';
export { ToolReleases } from './tool-versions/tool-releases.catalogue.js';
export { loadWorkspaceLock, type WorkspaceLock } from './lock/workspace-lock.writes.js';
export {
  BindWorkspaceTags,
  DeleteTags,
  FinalizeUpload,
  TagWorkspaces,
  ChangeWorkspace,
  type ExistingWorkspaceCommand,
} from './workspaces/workspaces.commands.js';
export { selectRelatedWorkspaces } from './workspaces/workspaces.related.js';

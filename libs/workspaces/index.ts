export { workspacesDefinition } from './workspaces.slice.js';
export type { WorkspaceEvent } from './workspace.js';
export type { WorkspaceRow } from './workspaces.queries.js';
export { WorkspacesModule } from './workspaces.module.js';
export { CurrentRuns } from './current-runs.port.js';
export { CurrentStates } from './current-states.port.js';
export { AGENT_POOL, EXECUTION_MODE } from './execution.queries.js';
export { buildLockSnapshotJson, type LockSnapshot } from './lock.queries.js';
export type { OutputSummary, StateSummary } from './state-head.js';
export { ToolReleases } from './tool-releases.catalogue.js';
export { loadWorkspaceLock, type WorkspaceLock } from './workspace-lock.writes.js';
export {
  BindWorkspaceTags,
  DeleteTags,
  FinalizeUpload,
  TagWorkspaces,
  ChangeWorkspace,
  type ExistingWorkspaceCommand,
} from './workspaces.commands.js';
export { selectRelatedWorkspaces } from './workspaces.related.js';

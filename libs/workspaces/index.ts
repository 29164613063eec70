export { workspacesSlice } from './workspaces.slice.js';
export type { WorkspaceEvent } from './workspace.js';
export type { WorkspaceRow } from './workspaces.queries.js';
export { WorkspacesModule } from './workspaces.module.js';
export { CurrentRuns } from './current-runs.port.js';
export { CurrentStates } from './current-states.port.js';
export { AGENT_POOL, EXECUTION_MODE } from './execution.queries.js';
export { lockSnapshot, type LockSnapshot } from './lock.queries.js';
export type { OutputFact, StateFacts } from './state-head.js';
export { ToolReleases } from './tool-releases.catalogue.js';
export { workspaceLock, type WorkspaceLock } from './workspace-lock.writes.js';
export {
  BindToWorkspace,
  DeleteTags,
  FinalizeUpload,
  TagWorkspaces,
  ToWorkspace,
  type LaterCommand,
} from './workspaces.commands.js';
export { relatedWorkspaces } from './workspaces.related.js';

export { workspacesSlice } from './workspaces.slice.js';
export type { WorkspaceEvent, WorkspaceRow } from './workspace.js';
export { WorkspacesModule } from './workspaces.module.js';

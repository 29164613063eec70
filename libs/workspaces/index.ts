export { workspacesSlice } from './workspaces.slice.js';
export type { WorkspaceEvent } from './workspace.js';
export type { WorkspaceRow } from './workspaces.queries.js';
export { WorkspacesModule } from './workspaces.module.js';

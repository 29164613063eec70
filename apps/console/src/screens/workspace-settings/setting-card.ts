import type { WorkspaceDocument } from '../../api/workspaces.js';

/** The properties of each card of settings. */
export type WorkspaceCardProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** The people who may change most settings. */
export const CHANGERS =
  'Teams with admin access to this workspace, or that manage all workspaces, change these settings.';

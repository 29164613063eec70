import type { WorkspaceDocument } from '../../api/workspaces.js';

/** The properties of each card of settings. */
export type WorkspaceCardProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** The people who may change most settings. */
export const CHANGERS =
  'Teams with admin access to this workspace, or that manage all workspaces, change these settings.';

/** The cards in the order of the screen, by the part of the address that names each of them. */
export const SETTING_PARTS = {
  general: 'General',
  project: 'Project',
  execution: 'Execution',
  sharing: 'Remote state sharing',
  'run-triggers': 'Run triggers',
  'run-tasks': 'Run tasks',
  'policy-sets': 'Policy sets',
  retention: 'Data retention',
  'ssh-key': 'SSH key',
  repository: 'Repository and triggers',
  destruction: 'Destruction',
  output: 'Run output and health',
  delete: 'Delete the workspace',
} as const;

export type SettingPart = keyof typeof SETTING_PARTS;

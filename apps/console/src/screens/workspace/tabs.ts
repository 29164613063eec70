/** A screen of a workspace. `path`: below the workspace; empty for the first one. */
type WorkspaceTab = { readonly label: string; readonly path: string };

/** The screens of a workspace, in the order of the tabs. A screen gets an entry when it exists. */
export const WORKSPACE_TABS: readonly WorkspaceTab[] = [
  { label: 'Overview', path: '' },
  { label: 'Runs', path: 'runs' },
  { label: 'State', path: 'state' },
  { label: 'State versions', path: 'states' },
  { label: 'Variables', path: 'variables' },
  { label: 'Notifications', path: 'notifications' },
  { label: 'Timeline', path: 'timeline' },
  { label: 'Settings', path: 'settings' },
];

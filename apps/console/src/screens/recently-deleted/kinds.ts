import type { RecoverableItem } from '../../api/recoverable-items.js';

/** What comes back with a resource. */
export const KINDS: Readonly<
  Record<RecoverableItem['attributes']['kind'], { readonly label: string; readonly contents: string }>
> = {
  workspaces: {
    label: 'Workspace',
    contents:
      'It comes back unlocked, with its settings, variables, tags, states, notifications and the access of teams, and without its runs.',
  },
  projects: {
    label: 'Project',
    contents:
      'It comes back with its settings, tags, variable sets and the access of teams. Recover its workspaces after it.',
  },
  varsets: {
    label: 'Variable set',
    contents: 'It comes back with its variables, and applies to the workspaces and projects that still exist.',
  },
  'registry-providers': {
    label: 'Provider',
    contents:
      'It comes back with its versions, platforms and files. Under another name, clients cannot install its existing versions.',
  },
};

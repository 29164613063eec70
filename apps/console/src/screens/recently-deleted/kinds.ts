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
};

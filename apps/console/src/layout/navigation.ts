import type { ComponentType } from 'react';
import { WorkspaceIcon, type IconProps } from '../components/icons.js';

export type NavigationEntry = {
  readonly label: string;
  /** The path of the screen below the organization. */
  readonly path: string;
  readonly icon: ComponentType<IconProps>;
  /** The second key after `g`. */
  readonly key: string;
};

/** The screens of an organization, in the order of the navigation. A screen gets an entry when it exists. */
export const NAVIGATION: readonly NavigationEntry[] = [
  { label: 'Workspaces', path: 'workspaces', icon: WorkspaceIcon, key: 'w' },
];

/** Returns the path of the first screen of an organization. */
export const getOrganizationPath = (organization: string): string => `/${organization}/${NAVIGATION[0]?.path ?? ''}`;

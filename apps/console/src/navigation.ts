import { useQuery } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { organizationQuery, type Organization } from './api/organizations.js';
import {
  AuditTrailIcon,
  BellIcon,
  HomeIcon,
  ProjectIcon,
  RegistryIcon,
  RunIcon,
  SettingsIcon,
  TagIcon,
  TeamIcon,
  UserIcon,
  WorkspaceIcon,
  type IconProps,
} from './components/icons.js';

export type NavigationEntry = {
  readonly label: string;
  /** The path of the screen below the organization. */
  readonly path: string;
  readonly icon: ComponentType<IconProps>;
  /** The second key after `g`. */
  readonly key: string;
  /** The permission in the organization without which the screen shows nothing. */
  readonly permission?: keyof Organization['attributes']['permissions'];
};

/** The screens of an organization, in the order of the navigation. A screen gets an entry when it exists. */
const NAVIGATION: readonly NavigationEntry[] = [
  // One screen a line. Home has the address of the organization.
  { label: 'Home', path: '', icon: HomeIcon, key: 'h' },
  { label: 'Projects', path: 'projects', icon: ProjectIcon, key: 'j' },
  { label: 'Workspaces', path: 'workspaces', icon: WorkspaceIcon, key: 'w' },
  { label: 'Runs', path: 'runs', icon: RunIcon, key: 'u' },
  { label: 'Teams', path: 'teams', icon: TeamIcon, key: 't' },
  { label: 'Tags', path: 'tags', icon: TagIcon, key: 'l' },
  { label: 'Registry', path: 'registry', icon: RegistryIcon, key: 'r' },
  { label: 'People', path: 'people', icon: UserIcon, key: 'p' },
  { label: 'Notifications', path: 'notifications', icon: BellIcon, key: 'n', permission: 'can-update' },
  { label: 'Audit trail', path: 'audit-trail', icon: AuditTrailIcon, key: 'a', permission: 'can-read-audit-trail' },
  { label: 'Settings', path: 'settings', icon: SettingsIcon, key: 's' },
];

/** Returns the path of the first screen of an organization. */
export const getOrganizationPath = (organization: string): string => `/${organization}`;

/** Returns the path of a screen of an organization. */
export const getScreenPath = (organization: string, { path }: NavigationEntry): string =>
  path === '' ? getOrganizationPath(organization) : `/${organization}/${path}`;

/** Returns the entry of the navigation to which a path below the organization belongs. */
export const findNavigationEntry = (path: string): NavigationEntry | undefined =>
  NAVIGATION.find((entry) => entry.path === path.split('/')[0]);

/** Returns the screens of the organization that the person may see. Null for no organization. */
export const useNavigation = (organization: string | null): readonly NavigationEntry[] => {
  const { data } = useQuery({ ...organizationQuery(organization ?? ''), enabled: organization !== null });
  if (organization === null) return [];
  return NAVIGATION.filter(
    ({ permission }) => permission === undefined || data?.attributes.permissions[permission] === true,
  );
};

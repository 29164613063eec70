import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { organizationQuery, type Organization } from '../api/organizations.js';
import type { Command } from '../components/command.js';
import { PlusIcon, SettingsIcon } from '../components/icons.js';
import { requestScreenCommand } from '../components/screen-commands.js';
import { getSectionPath, useSettingsSections } from '../screens/organization-settings/sections.js';

type Creation = {
  /** The label of the button on its screen. */
  readonly label: string;
  /** The path of the screen below the organization. */
  readonly path: string;
  /** The permission without which the button does nothing. */
  readonly permission?: keyof Organization['attributes']['permissions'];
};

/** The buttons with which people create resources on screens of an organization. */
const CREATIONS: readonly Creation[] = [
  // One button a line.
  { label: 'New workspace', path: 'workspaces', permission: 'can-create-workspace' },
  { label: 'New project', path: 'projects', permission: 'can-create-project' },
  { label: 'New team', path: 'teams', permission: 'can-create-team' },
  { label: 'Invite', path: 'people', permission: 'can-manage-users' },
  { label: 'New token', path: 'people/tokens' },
  { label: 'Reserve a key', path: 'tags/reserved', permission: 'can-update' },
  { label: 'New notification', path: 'notifications', permission: 'can-update' },
  { label: 'Publish a version', path: 'registry' },
];

/** Returns commands that open a screen and press its button. `present`: the labels that the open screen has itself. */
export const useCreateCommands = (organization: string | null, present: readonly string[]): readonly Command[] => {
  const navigate = useNavigate();
  const { data } = useQuery({ ...organizationQuery(organization ?? ''), enabled: organization !== null });
  if (organization === null) return [];
  return CREATIONS.filter(
    ({ label, permission }) =>
      !present.includes(label) && (permission === undefined || data?.attributes.permissions[permission] === true),
  ).map(({ label, path }) => ({
    group: 'Create',
    label,
    icon: PlusIcon,
    run: () => {
      requestScreenCommand(label);
      void navigate({ to: `/${organization}/${path}` });
    },
  }));
};

/** Returns a command for each section of the settings of the organization. */
export const useSettingsCommands = (organization: string | null): readonly Command[] => {
  const navigate = useNavigate();
  const sections = useSettingsSections(organization);
  if (organization === null || sections === undefined) return [];
  return sections.map((section) => ({
    group: 'Settings',
    label: `Settings: ${section.label}`,
    icon: SettingsIcon,
    run: () => void navigate({ to: getSectionPath(organization, section) }),
  }));
};

import { useQuery } from '@tanstack/react-query';
import { organizationQuery, type Organization } from '../../api/organizations.js';

type SettingsSection = {
  readonly label: string;
  /** The path of the section below the settings. */
  readonly path: string;
  /** The permission in the organization without which the section shows nothing. */
  readonly permission?: keyof Organization['attributes']['permissions'];
};

/** The sections of the settings, in the order of their links. Each one is a route below `organizationSettingsRoute`. */
const SECTIONS: readonly SettingsSection[] = [
  // One section a line.
  { label: 'General', path: 'general' },
  { label: 'Variable sets', path: 'variable-sets', permission: 'can-read-varsets' },
  { label: 'Agent pools', path: 'agent-pools' },
  { label: 'Data retention', path: 'data-retention', permission: 'can-update' },
  { label: 'Token lifetimes', path: 'token-lifetimes', permission: 'can-update' },
  { label: 'Audit trail', path: 'audit', permission: 'can-manage-auditing' },
  { label: 'Fact sources', path: 'fact-sources', permission: 'can-manage-auditing' },
  { label: 'IP allowlist', path: 'ip-allowlist', permission: 'can-update' },
  { label: 'Version control', path: 'version-control' },
  { label: 'SSH keys', path: 'ssh-keys' },
  { label: 'Run tasks', path: 'run-tasks' },
  { label: 'Policies', path: 'policies', permission: 'can-read-policies' },
  { label: 'Policy sets', path: 'policy-sets', permission: 'can-read-policies' },
  { label: 'Recently deleted', path: 'recently-deleted' },
];

/** Returns the path of a section of an organization. */
export const getSectionPath = (organization: string, { path }: SettingsSection): string =>
  `/${organization}/settings/${path}`;

/** Returns the sections that the person may see. Undefined until the permissions are there, and without an organization. */
export const useSettingsSections = (organization: string | null): readonly SettingsSection[] | undefined => {
  const { data } = useQuery({ ...organizationQuery(organization ?? ''), enabled: organization !== null });
  if (data === undefined) return undefined;
  const { permissions } = data.attributes;
  return SECTIONS.filter(({ permission }) => permission === undefined || permissions[permission]);
};

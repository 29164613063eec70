import { findMetaText, type ShownEntry } from './shown-entry.js';

/** The classes of OCSF that entries have. */
export const OCSF_CLASSES = {
  accountChange: 3001,
  authentication: 3002,
  entityManagement: 3004,
  userAccess: 3005,
  groupManagement: 3006,
  apiActivity: 6003,
} as const;

export type OcsfClass = keyof typeof OCSF_CLASSES;

type OcsfActivity = { readonly class: OcsfClass; readonly activity: number };

/** The activity of each class for actions that the class has no activity for. */
export const OTHER_ACTIVITY = 99;

const API_ACTIVITIES: Readonly<Record<string, number>> = {
  create: 1,
  index: 2,
  show: 2,
  download: 2,
  update: 3,
  destroy: 4,
  destroy_version: 4,
};

/** What protects or opens the site and its organizations: credentials, identity providers, agents, and settings of security. */
const MANAGED_ENTITIES: ReadonlySet<string> = new Set([
  'agent',
  'agent_pool',
  'audit_configuration',
  'authentication_token',
  'cidr_range_list',
  'data_retention_policy',
  'gpg_key',
  'identity_provider',
  'notification_configuration',
  'oauth_client',
  'oauth_token',
  'oidc_key',
  'saml_configuration',
  'ssh_key',
  'workload_identity',
]);

const ENTITY_ACTIVITIES: Readonly<Record<string, number>> = { ...API_ACTIVITIES, enable: 8, disable: 9 };

/** Resources whose access for a team changes with the resource, but which are about the group of people. */
const TEAM_GRANTS: Readonly<Record<string, number>> = { add_team: 1, update_team_permissions: 1, remove_team: 2 };

const GROUP_ACTIVITIES: Readonly<Record<string, number>> = { add_member: 3, remove_member: 4, destroy: 5, create: 6 };

const ACCOUNT_ACTIVITIES: Readonly<Record<string, number>> = {
  create: 1,
  provision: 1,
  unsuspend: 2,
  suspend: 5,
  deprovision: 5,
  forget: 6,
  create_link: OTHER_ACTIVITY,
};

const SITE_ADMIN_ACTIVITIES: Readonly<Record<string, number>> = { grant_admin: 1, revoke_admin: 2 };
const MEMBERSHIP_ACTIVITIES: Readonly<Record<string, number>> = { create: 1, destroy: 2 };

/** Activities of the changes of a person's sign-in methods, by the member `change` of the entry. */
const METHOD_ACTIVITIES: Readonly<Record<string, number>> = {
  password_set: 3,
  password_removed: 3,
  reset: 4,
  totp_enabled: 10,
  passkey_added: 10,
  totp_disabled: 11,
  passkey_removed: 11,
};

const LOGON = 1;
const LOGOFF = 2;
const ADD_USER = 3;
const REMOVE_USER = 4;

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const findMembersActivity = ({ resource: { meta } }: ShownEntry): number => {
  const [adds, removes] = [isFilled(meta?.['added']), isFilled(meta?.['removed'])];
  if (adds === removes) return OTHER_ACTIVITY;
  return adds ? ADD_USER : REMOVE_USER;
};

const lookUp = (activities: Readonly<Record<string, number>>, action: string): number =>
  (Object.hasOwn(activities, action) ? activities[action] : undefined) ?? OTHER_ACTIVITY;

const RULES: Readonly<Record<string, (action: string, entry: ShownEntry) => OcsfActivity | null>> = {
  session: (action) => ({ class: 'authentication', activity: action === 'destroy' ? LOGOFF : LOGON }),
  sign_in: () => ({ class: 'authentication', activity: LOGON }),
  sign_in_methods: (action, entry) =>
    action === 'sign_in_failed'
      ? { class: 'authentication', activity: LOGON }
      : { class: 'accountChange', activity: lookUp(METHOD_ACTIVITIES, findMetaText(entry, 'change') ?? '') },
  user: (action) => {
    if (action === 'index') return null;
    if (Object.hasOwn(SITE_ADMIN_ACTIVITIES, action))
      return { class: 'userAccess', activity: lookUp(SITE_ADMIN_ACTIVITIES, action) };
    return { class: 'accountChange', activity: lookUp(ACCOUNT_ACTIVITIES, action) };
  },
  organization_user: (action) => ({ class: 'userAccess', activity: lookUp(MEMBERSHIP_ACTIVITIES, action) }),
  team: (action) => ({ class: 'groupManagement', activity: lookUp(GROUP_ACTIVITIES, action) }),
  scim_group: (action, entry) => ({
    class: 'groupManagement',
    activity: action === 'update_members' ? findMembersActivity(entry) : lookUp(GROUP_ACTIVITIES, action),
  }),
};

/**
 * Returns the class of OCSF and its activity for an entry. It derives from the type and the action of the resource, so
 * entries of events and of facts have one rule. Other entries than those of people, groups and security are API activity.
 */
export const classifyEntry = (entry: ShownEntry): OcsfActivity => {
  const { type, action } = entry.resource;
  const classified = Object.hasOwn(RULES, type) ? RULES[type]?.(action, entry) : null;
  if (classified) return classified;
  if (Object.hasOwn(TEAM_GRANTS, action) && findMetaText(entry, 'team'))
    return { class: 'groupManagement', activity: lookUp(TEAM_GRANTS, action) };
  return MANAGED_ENTITIES.has(type)
    ? { class: 'entityManagement', activity: lookUp(ENTITY_ACTIVITIES, action) }
    : { class: 'apiActivity', activity: lookUp(API_ACTIVITIES, action) };
};

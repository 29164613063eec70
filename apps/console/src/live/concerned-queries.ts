import type { Query } from '@tanstack/react-query';
import { NEW_ENTRIES } from '../api/audit-trail.js';
import { organizationKey } from '../api/organizations.js';

/** Resource types of the messages since the last refresh. `hasReset`: everything can be different. */
export type ChangeBatch = { readonly types: ReadonlySet<string>; readonly hasReset: boolean };

/** Which keys after `organizationKey` show resources of a type. */
const KEYS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  workspaces: ['workspaces', 'home', 'access', 'tags'],
  'state-versions': ['workspaces', 'home'],
  vars: ['workspaces'],
  varsets: ['workspaces'],
  runs: ['runs', 'workspaces', 'home'],
  'configuration-versions': ['runs'],
  projects: ['projects', 'workspaces', 'access', 'tags'],
  teams: ['teams', 'access'],
  'team-workspaces': ['teams', 'access'],
  'team-projects': ['teams', 'access'],
  'organization-memberships': ['members', 'teams'],
  'reserved-tag-keys': ['tags'],
  'registry-providers': ['registry'],
  'registry-provider-versions': ['registry'],
  'registry-provider-platforms': ['registry'],
  'gpg-keys': ['registry'],
};

const AUDIT_TRAIL = 'audit-trail';

const matchesKey = ([key, part]: readonly unknown[], { types, hasReset }: ChangeBatch): boolean => {
  if (typeof key !== 'string') return false;
  // Every change has an entry. Only the query of new entries reads again, so that no row moves.
  if (key === AUDIT_TRAIL) return part === NEW_ENTRIES;
  // New types can appear in each release of the server.
  return hasReset || [...types].some((type) => KEYS_BY_TYPE[type]?.includes(key) ?? true);
};

/** Returns whether what the query has read can be outdated. */
export const isConcerned = (organization: string, { queryKey }: Query, batch: ChangeBatch): boolean => {
  const [root, name, ...keys] = queryKey;
  if (root === 'states') return batch.hasReset || batch.types.has('state-versions');
  if (root === 'organization-list') return batch.types.has('organizations');
  const [ownRoot, ownName] = organizationKey(organization);
  return root === ownRoot && name === ownName && matchesKey(keys, batch);
};

/**
 * Returns whether the query may read again by itself. The server records some reads in the audit trail: queries that never
 * become stale wait until a person opens them again, and queries with `readAgainFor` wait for messages about these types.
 */
export const mayReadAgain = ({ meta, observers, state }: Query, { types }: ChangeBatch): boolean =>
  // An error that replaces a screen stays until the person tries again.
  !(state.status === 'error' && state.data === undefined) &&
  (meta?.readAgainFor?.some((type) => types.has(type)) ?? true) &&
  observers.every(({ options }) => options.staleTime !== Number.POSITIVE_INFINITY);

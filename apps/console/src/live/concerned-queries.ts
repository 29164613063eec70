import type { Query } from '@tanstack/react-query';
import { NEW_ENTRIES } from '../api/audit-trail.js';
import { organizationKey } from '../api/organizations.js';

/** The messages since the last refresh. */
export type ChangeBatch = {
  /** The types of the resources that they name. */
  readonly types: ReadonlySet<string>;
  /** Everything can be different. */
  readonly hasReset: boolean;
  /** The person may have lost access. */
  readonly hasNewAccess: boolean;
};

/** The keys after `organizationKey` of the queries that show resources of a type. */
const KEYS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  workspaces: ['workspaces', 'home', 'access', 'tags', 'notifications', 'recoverable-items'],
  'state-versions': ['workspaces', 'home'],
  vars: ['workspaces', 'variable-sets'],
  varsets: ['workspaces', 'variable-sets', 'recoverable-items'],
  runs: ['runs', 'workspaces', 'home', 'notifications'],
  'assessment-results': ['workspaces', 'assessment-results'],
  'configuration-versions': ['runs'],
  'run-triggers': ['workspaces'],
  tasks: ['tasks', 'workspaces'],
  'workspace-tasks': ['tasks', 'workspaces'],
  policies: ['policies', 'policy-sets'],
  'policy-sets': ['policies', 'policy-sets'],
  projects: ['projects', 'workspaces', 'access', 'tags', 'home', 'variable-sets', 'recoverable-items'],
  teams: ['teams', 'access'],
  'team-workspaces': ['teams', 'access'],
  'team-projects': ['teams', 'access'],
  'organization-memberships': ['members', 'teams'],
  'reserved-tag-keys': ['tags'],
  'agent-pools': ['agent-pools'],
  'oauth-clients': ['oauth-clients'],
  'cidr-range-lists': ['ip-allowlist'],
  'registry-providers': ['registry', 'recoverable-items'],
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
 * All read again if the person may have lost access, so that no screen shows what the person may no longer read.
 */
export const mayReadAgain = ({ meta, observers, state }: Query, { types, hasNewAccess }: ChangeBatch): boolean => {
  // An error that replaces a screen stays until the person tries again.
  if (state.status === 'error' && state.data === undefined) return false;
  if (hasNewAccess) return true;
  return (
    (meta?.readAgainFor?.some((type) => types.has(type)) ?? true) &&
    observers.every(({ options }) => options.staleTime !== Number.POSITIVE_INFINITY)
  );
};

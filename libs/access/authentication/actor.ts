import type { EventContext, Timestamp } from '#kernel';
import type { OrganizationAccess } from '../permissions/organization-access.js';

/**
 * Whom a token speaks for. An `audit-trails` token belongs to an organization and reads its trail, nothing else; an
 * `agent` token belongs to an agent pool and executes its runs; a `run` token stands for one of those, and ends with it.
 */
export const TOKEN_KINDS = ['user', 'team', 'organization', 'audit-trails', 'agent', 'run'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** What someone is in an organization, or at the site: what the permission table asks for. */
export type Role =
  | 'site-admin'
  | 'user-token'
  | 'owner'
  | 'organization-token'
  | 'audit-token'
  | 'agent'
  | 'run'
  | 'member'
  | keyof OrganizationAccess;

/** Whom a token speaks for, and what that is worth where; the same for every request until access changes. */
export type Identity = {
  readonly kind: TokenKind;
  /** `user-…`, `team-…`, `org-…`, `run-…`, or `apool-…` for an agent. */
  readonly id: string;
  readonly name: string;
  readonly siteAdmin: boolean;
  /** Teams it acts for, of all organizations: what they have been given at places counts for it. */
  readonly teams: readonly string[];
  readonly standings: ReadonlyMap<string, ReadonlySet<Role>>;
  /**
   * Organizations of the caller that accept no tokens of users, or none as old as the caller's: what the caller is there does
   * not count.
   */
  readonly closedTo: ReadonlySet<string>;
  readonly expiredAt: Timestamp | null;
  /** The token's id; null if no token was presented. */
  readonly token: string | null;
  /** What this depends on, as a Postgres array of ids, and the sum of its epochs when this was read (access-epochs.queries.ts). */
  readonly subjects: string;
  readonly epoch: number;
  /** The transactions that this was read after; null if the subjects are few. */
  readonly snapshot: string | null;
};

/** The caller of one request. */
export type Actor = Identity & { readonly request: EventContext['request'] };

export type TeamRow = {
  readonly id: string;
  readonly organization: string;
  readonly access: OrganizationAccess;
  /** Whether its members own the organization. */
  readonly owners: boolean;
};

const NO_ROLES: ReadonlySet<Role> = new Set();
const USER_ROLES: ReadonlySet<Role> = new Set<Role>(['user-token']);
const SITE_ADMIN_ROLES: ReadonlySet<Role> = new Set<Role>(['site-admin', 'user-token', 'owner', 'member']);

/** What the caller is in an organization; at the site where that is null. */
export const getRolesIn = (actor: Identity, organization: string | null): ReadonlySet<Role> => {
  if (actor.siteAdmin) return SITE_ADMIN_ROLES;
  if (organization === null) return actor.kind === 'user' ? USER_ROLES : NO_ROLES;
  return actor.standings.get(organization) ?? NO_ROLES;
};

/** The number of organizations that somebody owns; for an administrator of the site, of those that name them an owner. */
export const countOwned = ({ standings }: Identity): number =>
  [...standings.values()].filter((standing) => standing.has('owner')).length;

/** Adds up what each team gives to who is a member of the organizations anyway. */
export const computeRoles = (teams: readonly TeamRow[], memberOf: readonly string[] = []): Map<string, Set<Role>> => {
  const standings = new Map(memberOf.map((organization) => [organization, new Set<Role>(['member'])]));
  for (const { organization, access, owners } of teams) {
    const standing = standings.get(organization) ?? new Set<Role>(['member']);
    if (owners) standing.add('owner');
    for (const [flag, given] of Object.entries(access)) if (given) standing.add(flag as keyof OrganizationAccess);
    standings.set(organization, standing);
  }
  return standings;
};

/** JSON:API type of the resource that a kind of token acts as. */
export const ACTOR_TYPE = {
  user: 'users',
  team: 'teams',
  organization: 'organizations',
  'audit-trails': 'organizations',
  agent: 'agent-pools',
  run: 'runs',
} as const satisfies Record<TokenKind, string>;

/** Somebody, as locks, runs and states name them. */
export type ActingPrincipal = { readonly type: 'users' | 'teams' | 'runs'; readonly id: string; readonly name: string };

/** What clients take an accessor for: they know users, teams and runs, and a token without a user for one. */
export const toPrincipalType = (type: string): ActingPrincipal['type'] =>
  type === 'teams' || type === 'runs' ? type : 'users';

/** The caller. */
export const toActingPrincipal = ({ kind, id, name }: Identity): ActingPrincipal => ({
  type: toPrincipalType(ACTOR_TYPE[kind]),
  id,
  name,
});

/** What an event keeps of who did it. */
export const createEventContext = (actor: Actor): EventContext => ({
  accessor: { id: actor.id, type: ACTOR_TYPE[actor.kind], name: actor.name },
  auth: 'Client',
  impersonator: null,
  request: actor.request,
  correlation: actor.request.id ?? '',
  causation: null,
});

/** The context of what Cadastre does of its own accord, or an operator at the command line. */
export const createSystemContext = (name: string, correlation: string): EventContext => ({
  accessor: { id: 'system', type: 'system', name },
  auth: 'System',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation,
  causation: null,
});

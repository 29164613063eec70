import type { EventContext, Timestamp } from '#platform/kernel';
import type { OrganizationAccess } from './organization-access.js';
import type { TokenRestriction } from './token-restriction.js';

/**
 * The kinds of token owners. An `audit-trails` token belongs to an organization and can only read its audit trail. An
 * `agent` token belongs to an agent pool, of an organization or of the site, and executes its runs. A `run` token belongs to one run, and ends with it. A
 * `scim` token belongs to the site, and can only provision users and groups.
 */
export const TOKEN_KINDS = ['user', 'team', 'organization', 'audit-trails', 'agent', 'run', 'scim'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/**
 * How strongly a person signed in. `two-factor` includes passkeys with user verification. `oidc`: with an identity
 * provider. `oidc-two-factor`: with one, and with a second factor, either there or a one-time code here.
 */
export const ASSURANCES = ['password', 'two-factor', 'oidc', 'oidc-two-factor'] as const;
export type Assurance = (typeof ASSURANCES)[number];

/** A role of a caller in an organization or at the site. Rows of the permission table list roles. */
export type Role =
  | 'site-admin'
  | 'user-token'
  | 'owner'
  | 'organization-token'
  | 'audit-token'
  | 'agent'
  | 'run'
  | 'scim'
  | 'member'
  | keyof OrganizationAccess;

/**
 * Why an organization is closed to a caller. `credential`: it accepts no user tokens, or none as old as the caller's, or
 * demands another way of signing in. `address`: its IP allowlist does not contain the address of the request.
 */
export type ClosingReason = 'credential' | 'address';

/** The owner of a token, with its roles. It is the same for every request until access changes. */
export type Identity = {
  readonly kind: TokenKind;
  /** `user-…`, `team-…`, `org-…`, `run-…`, `apool-…` for an agent, or `at-…` for a SCIM token. */
  readonly id: string;
  readonly name: string;
  readonly siteAdmin: boolean;
  /** What the request sent to authenticate. Both give the same permissions. */
  readonly credential: 'token' | 'session';
  /** How strongly the person signed in. Null for tokens that no session has created, and of callers that are no users. */
  readonly assurance: Assurance | null;
  /**
   * When the person of a session proved who they are. With an identity provider, the time at which they authenticated
   * there, because providers sign people in again without a question. Null for tokens, and if the provider states no time.
   */
  readonly provedAt: Timestamp | null;
  /**
   * Teams that the caller is a member of, or whose token it uses, in all organizations. The caller has their grants on
   * workspaces and projects.
   */
  readonly teams: readonly string[];
  readonly rolesByOrganization: ReadonlyMap<string, ReadonlySet<Role>>;
  /** Organizations of the caller that refuse the request, and why. The caller has no roles in them. */
  readonly closedTo: ReadonlyMap<string, ClosingReason>;
  /** The part of its owner's access that a token of a user has. `UNRESTRICTED` for all other callers. */
  readonly restriction: TokenRestriction;
  readonly expiredAt: Timestamp | null;
  /** Id of the token or session; null if none was sent. */
  readonly token: string | null;
  /**
   * The subjects that this identity depends on, as a Postgres array of ids, and the sum of their epochs when it was
   * read (access-epochs.queries.ts).
   */
  readonly subjects: string;
  readonly epoch: number;
  /** The Postgres snapshot in which this was read; null if the subjects are few. */
  readonly snapshot: string | null;
};

/** A caller that links in a response are for. */
export type CallerAtHost = Identity & {
  /** The host and port to which the request was sent, unless links are for clients of the public address. */
  readonly host?: string;
};

export type Actor = CallerAtHost & Pick<EventContext, 'request' | 'origin'>;

export type TeamRow = {
  readonly id: string;
  readonly organization: string;
  readonly access: OrganizationAccess;
  /** Whether the team is the owners team of its organization. */
  readonly owners: boolean;
};

const NO_ROLES: ReadonlySet<Role> = new Set();
const USER_ROLES: ReadonlySet<Role> = new Set<Role>(['user-token']);
const SCIM_ROLES: ReadonlySet<Role> = new Set<Role>(['scim']);
const AGENT_ROLES: ReadonlySet<Role> = new Set<Role>(['agent']);
const SITE_ADMIN_ROLES: ReadonlySet<Role> = new Set<Role>(['site-admin', 'user-token', 'owner', 'member']);

/** Returns whether the caller is an agent of the site, whose pool belongs to no organization. */
export const isSiteAgent = ({ kind, rolesByOrganization }: Identity): boolean =>
  kind === 'agent' && rolesByOrganization.size === 0;

/** Returns the roles of the caller in an organization, or at the site if `organization` is null. */
export const getRolesIn = (actor: Identity, organization: string | null): ReadonlySet<Role> => {
  if (actor.siteAdmin) return SITE_ADMIN_ROLES;
  // Which workspaces the agent serves is a condition on each of them (libs/runs/runs/runs/runs.queries.ts).
  if (isSiteAgent(actor)) return AGENT_ROLES;
  if (organization === null && actor.kind === 'scim') return SCIM_ROLES;
  if (organization === null) return actor.kind === 'user' ? USER_ROLES : NO_ROLES;
  return actor.rolesByOrganization.get(organization) ?? NO_ROLES;
};

/**
 * Returns the number of organizations that the caller owns. For a site admin, organizations without an owner role of
 * their own do not count.
 */
export const countOwned = ({ rolesByOrganization }: Identity): number =>
  [...rolesByOrganization.values()].filter((roles) => roles.has('owner')).length;

/** Returns the roles by organization: the union of what each team gives, and `member` for memberships. */
export const computeRoles = (teams: readonly TeamRow[], memberOf: readonly string[] = []): Map<string, Set<Role>> => {
  const rolesByOrganization = new Map(memberOf.map((organization) => [organization, new Set<Role>(['member'])]));
  for (const { organization, access, owners } of teams) {
    const roles = rolesByOrganization.get(organization) ?? new Set<Role>(['member']);
    if (owners) roles.add('owner');
    for (const [flag, isSet] of Object.entries(access)) if (isSet) roles.add(flag as keyof OrganizationAccess);
    rolesByOrganization.set(organization, roles);
  }
  return rolesByOrganization;
};

/** JSON:API type of the owner of each kind of token. */
export const ACTOR_TYPE = {
  user: 'users',
  team: 'teams',
  organization: 'organizations',
  'audit-trails': 'organizations',
  agent: 'agent-pools',
  run: 'runs',
  scim: 'authentication-tokens',
} as const satisfies Record<TokenKind, string>;

/** A caller as locks, runs and states name it. */
export type ActingPrincipal = { readonly type: 'users' | 'teams' | 'runs'; readonly id: string; readonly name: string };

/**
 * Returns the type that clients know for an accessor. They know users, teams and runs, and treat other tokens as users.
 */
export const toPrincipalType = (type: string): ActingPrincipal['type'] =>
  type === 'teams' || type === 'runs' ? type : 'users';

export const toActingPrincipal = ({ kind, id, name }: Identity): ActingPrincipal => ({
  type: toPrincipalType(ACTOR_TYPE[kind]),
  id,
  name,
});

/** Returns the context for actions of a person before the person has a session: signing in. */
export const createPersonContext = (
  { id, username }: { readonly id: string; readonly username: string },
  request: EventContext['request'],
): EventContext => ({
  accessor: { id, type: ACTOR_TYPE.user, name: username },
  auth: 'Client',
  impersonator: null,
  request,
  correlation: request.id ?? '',
  causation: null,
});

export const createEventContext = (actor: Actor): EventContext => ({
  accessor: { id: actor.id, type: ACTOR_TYPE[actor.kind], name: actor.name },
  auth: 'Client',
  impersonator: null,
  request: actor.request,
  ...(actor.origin && { origin: actor.origin }),
  correlation: actor.request.id ?? '',
  causation: null,
});

/** Returns the context for actions of Cadastre itself, or of an operator at the command line. */
export const createSystemContext = (name: string, correlation: string): EventContext => ({
  accessor: { id: 'system', type: 'system', name },
  auth: 'System',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation,
  causation: null,
});

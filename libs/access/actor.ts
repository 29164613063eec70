import type { EventContext, Timestamp } from '#kernel';
import type { TokenKind } from './authentication-token.js';
import { OWNERS, type OrganizationAccess } from './team.js';

/** What someone is in an organization: the columns of the permission table. */
export type Standing =
  'site-admin' | 'owner' | 'organization-token' | 'audit-token' | 'member' | keyof OrganizationAccess;

/** Whom a token speaks for, and what that is worth where; the same for every request until access changes. */
export type Identity = {
  readonly kind: TokenKind;
  /** `user-…`, `team-…` or `org-…`. */
  readonly id: string;
  readonly name: string;
  readonly siteAdmin: boolean;
  readonly teams: readonly string[];
  readonly standings: ReadonlyMap<string, ReadonlySet<Standing>>;
  readonly expiredAt: Timestamp | null;
  /** The access epoch in which this was read (access.fresh). */
  readonly epoch: number;
};

/** The caller of one request. */
export type Actor = Identity & { readonly request: EventContext['request'] };

export type TeamRow = {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  readonly access: OrganizationAccess;
};

const NOWHERE: ReadonlySet<Standing> = new Set();
const SITE_ADMIN: ReadonlySet<Standing> = new Set<Standing>(['site-admin', 'owner', 'member']);

export const standingIn = (actor: Identity, organization: string): ReadonlySet<Standing> =>
  actor.siteAdmin ? SITE_ADMIN : (actor.standings.get(organization) ?? NOWHERE);

/** Adds up what each team gives. */
export const standingsOf = (teams: readonly TeamRow[]): Map<string, Set<Standing>> => {
  const standings = new Map<string, Set<Standing>>();
  for (const { organization, name, access } of teams) {
    const standing = standings.get(organization) ?? new Set<Standing>(['member']);
    if (name === OWNERS) standing.add('owner');
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
} as const satisfies Record<TokenKind, string>;

/** What an event keeps of who did it. */
export const contextOf = (actor: Actor): EventContext => ({
  accessor: { id: actor.id, type: ACTOR_TYPE[actor.kind], name: actor.name },
  auth: 'Client',
  impersonator: null,
  request: actor.request,
  correlation: actor.request.id ?? '',
  causation: null,
});

/** The context of what Cadastre does of its own accord, or an operator at the command line. */
export const systemContext = (name: string, correlation: string): EventContext => ({
  accessor: { id: 'system', type: 'system', name },
  auth: 'System',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation,
  causation: null,
});

import { z } from 'zod';
import type { EventKinds } from '#kernel';
import { NO_ORGANIZATION_ACCESS, ORGANIZATION_ACCESS, TOKEN_KINDS, type OrganizationAccess } from '#access';
import type { AuthenticationTokenEvent } from './authentication-token.js';
import { MEMBERSHIP_STATUSES, type MembershipEvent } from './membership.js';
import { VISIBILITIES, type TeamChanges, type TeamEvent } from './team.js';
import type { UserChanges, UserEvent } from './user.js';

const flags = z.strictObject(Object.fromEntries(ORGANIZATION_ACCESS.map((access) => [access, z.boolean()])));
const organizationAccess = flags as unknown as z.ZodType<OrganizationAccess>;

const teamSettings = z.strictObject({
  name: z.string(),
  visibility: z.enum(VISIBILITIES),
  ssoTeamId: z.string().nullable(),
  allowMemberTokenManagement: z.boolean(),
});
const teamChanges = teamSettings
  .extend({ organizationAccess: flags.partial() })
  .partial() as unknown as z.ZodType<TeamChanges>;

const userChanges = z.strictObject({ username: z.string(), email: z.string() }).partial() as z.ZodType<UserChanges>;

type FirstTeamCreated = { readonly name: string; readonly organizationAccess: Partial<OrganizationAccess> };

/** Teams had neither SSO ids nor a say in tokens, and there was no right to see secret ones. */
const withTokensAndSso = (data: unknown) => ({
  ssoTeamId: null,
  allowMemberTokenManagement: true,
  ...(data as FirstTeamCreated),
  organizationAccess: { ...NO_ORGANIZATION_ACCESS, ...(data as FirstTeamCreated).organizationAccess },
});

const person = z.strictObject({ user: z.string(), username: z.string() });
const told = ({ user, username }: { readonly user: string; readonly username: string }) => ({
  user: username,
  user_id: user,
});

const tokenKind = z.enum(TOKEN_KINDS);

/** Schemas, topics and audit rows of the events of people, their memberships, teams and tokens. */
export const peopleEvents: EventKinds<UserEvent | MembershipEvent | TeamEvent | AuthenticationTokenEvent> = {
  UserCreated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ username: z.string(), email: z.string().nullable(), siteAdmin: z.boolean() }),
    audit: { unaudited: 'a user belongs to the site, and a trail to an organization' },
  },
  UserUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ changes: userChanges }),
    audit: { unaudited: 'a user belongs to the site, and a trail to an organization' },
  },
  MembershipCreated: {
    schemaVersion: 1,
    topic: 'access',
    schema: person.extend({ email: z.string().nullable(), status: z.enum(MEMBERSHIP_STATUSES) }),
    audit: { resource: 'organization_user', action: 'create', meta: told },
  },
  MembershipAccepted: {
    schemaVersion: 1,
    topic: 'access',
    schema: person,
    audit: { resource: 'organization_user', action: 'update', meta: told },
  },
  MembershipRemoved: {
    schemaVersion: 1,
    topic: 'access',
    schema: person,
    audit: { resource: 'organization_user', action: 'destroy', meta: told },
  },
  TeamCreated: {
    schemaVersion: 2,
    topic: 'access',
    schema: teamSettings.extend({ organizationAccess }),
    audit: { resource: 'team', action: 'create', meta: ({ name }) => ({ name }) },
    upcast: { 1: withTokensAndSso },
  },
  TeamUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ changes: teamChanges }),
    audit: { resource: 'team', action: 'update' },
  },
  TeamDeleted: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'team', action: 'destroy', meta: ({ name }) => ({ name }) },
  },
  TeamMemberAdded: {
    schemaVersion: 1,
    topic: 'access',
    schema: person,
    audit: { resource: 'team', action: 'add_member', meta: ({ username }) => ({ user: username }) },
  },
  TeamMemberRemoved: {
    schemaVersion: 1,
    topic: 'access',
    schema: person,
    audit: { resource: 'team', action: 'remove_member', meta: ({ username }) => ({ user: username }) },
  },
  AuthenticationTokenCreated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({
      kind: tokenKind,
      owner: z.string(),
      description: z.string().nullable(),
      createdBy: z.strictObject({ type: z.string(), id: z.string() }).nullable(),
      expiredAt: z.iso.datetime().nullable(),
    }),
    audit: { resource: 'authentication_token', action: 'create' },
  },
  AuthenticationTokenDestroyed: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ kind: tokenKind, owner: z.string() }),
    audit: { resource: 'authentication_token', action: 'destroy' },
  },
};

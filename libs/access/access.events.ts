import { z } from 'zod';
import type { EventKinds } from '#kernel';
import { TOKEN_KINDS, type AuthenticationTokenEvent } from './authentication-token.js';
import { ORGANIZATION_ACCESS, type OrganizationAccess, type TeamEvent } from './team.js';
import type { UserEvent } from './user.js';

const organizationAccess = z.strictObject(
  Object.fromEntries(ORGANIZATION_ACCESS.map((access) => [access, z.boolean()])),
) as unknown as z.ZodType<OrganizationAccess>;

const tokenKind = z.enum(TOKEN_KINDS);

/** Schemas, topics and audit rows of the events of people, teams and tokens. */
export const accessEvents: EventKinds<UserEvent | TeamEvent | AuthenticationTokenEvent> = {
  UserCreated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ username: z.string(), email: z.string().nullable(), siteAdmin: z.boolean() }),
    audit: { unaudited: 'a user belongs to the site, and a trail to an organization' },
  },
  TeamCreated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ name: z.string(), visibility: z.enum(['secret', 'organization']), organizationAccess }),
    audit: { resource: 'team', action: 'create', meta: ({ name }) => ({ name }) },
  },
  TeamMemberAdded: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ user: z.string(), username: z.string() }),
    audit: { resource: 'team', action: 'add_member', meta: ({ username }) => ({ user: username }) },
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

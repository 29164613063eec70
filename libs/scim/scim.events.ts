import { z } from 'zod';
import { describeChangedAttributes, type EventKinds } from '#kernel';
import type { ScimGroupEvent, ScimGroupNames } from './groups/scim-group.js';
import type { ScimUserEvent, ScimUserStatement } from './users/scim-user.js';

const SITE_EVENT = 'the groups of an identity provider belong to the site, and a trail to an organization';

const provisionedUser = z.strictObject({ user: z.string(), organizations: z.array(z.string()).readonly() });
const statement = z.strictObject({ userName: z.string(), externalId: z.string().nullable(), active: z.boolean() });
const userChanges = statement.partial() as unknown as z.ZodType<Partial<ScimUserStatement>>;

const groupNames = z.strictObject({ displayName: z.string(), externalId: z.string().nullable() });
const groupChanges = groupNames.partial() as unknown as z.ZodType<Partial<ScimGroupNames>>;
const users = z.array(z.string()).readonly();

type UserOfOrganizations = { readonly user: string; readonly organizations: readonly string[] };

/** The audit entries of a user, in the trails of the organizations in which the user is an active member. */
const ofUser = {
  resource: 'user',
  id: ({ user }: UserOfOrganizations) => user,
  organizations: ({ organizations }: UserOfOrganizations) => organizations,
};

export const scimEvents: EventKinds<ScimUserEvent | ScimGroupEvent> = {
  ScimUserProvisioned: {
    schemaVersion: 2,
    // 2: source. Before, no token belonged to an identity provider.
    upcast: { 1: [{ add: { source: 'site' } }] },
    topic: 'access',
    schema: provisionedUser.extend({ ...statement.shape, source: z.string() }),
    audit: { ...ofUser, action: 'provision' },
    personal: ({ user }) => [
      { at: ['userName'], person: user, kind: 'name' },
      { at: ['externalId'], person: user, kind: 'detail' },
    ],
  },
  ScimUserUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: provisionedUser.extend({ changes: userChanges }),
    audit: {
      ...ofUser,
      action: 'update_provisioning',
      meta: ({ changes }) => describeChangedAttributes(changes),
    },
    personal: ({ user }) => [
      { at: ['changes', 'userName'], person: user, kind: 'name' },
      { at: ['changes', 'externalId'], person: user, kind: 'detail' },
    ],
  },
  ScimUserDeprovisioned: {
    schemaVersion: 1,
    topic: 'access',
    schema: provisionedUser,
    audit: { ...ofUser, action: 'deprovision' },
  },
  ScimGroupCreated: {
    schemaVersion: 2,
    // 2: source.
    upcast: { 1: [{ add: { source: 'site' } }] },
    topic: 'access',
    schema: groupNames.extend({ source: z.string() }),
    audit: { unaudited: SITE_EVENT },
  },
  ScimGroupUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ changes: groupChanges, formerKey: z.string().nullable() }),
    audit: { unaudited: SITE_EVENT },
  },
  ScimGroupMembersChanged: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ added: users, removed: users }),
    audit: { unaudited: `${SITE_EVENT}; changes of teams are audited` },
  },
  ScimGroupDeleted: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ key: z.string() }),
    audit: { unaudited: SITE_EVENT },
  },
};

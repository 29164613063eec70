import { z } from 'zod';
import { defineEvents, describeChangedAttributes, type EventKinds } from '#platform/kernel';
import { optionalMembers } from '#api/json-api/rules';
import { PROVISIONING } from '#api/access/rules';
import type { ScimGroupEvent } from './groups/scim-group.js';
import type { ScimUserEvent } from './users/scim-user.js';

const provisionedUser = z.strictObject({ user: z.string(), organizations: z.array(z.string()).readonly() });
const statement = z.strictObject({ userName: z.string(), externalId: z.string().nullable(), active: z.boolean() });
const userChanges = optionalMembers(statement);

const groupNames = z.strictObject({ displayName: z.string(), externalId: z.string().nullable() });
const groupChanges = optionalMembers(groupNames);
const users = z.array(z.string()).readonly();

type UserOfOrganizations = { readonly user: string; readonly organizations: readonly string[] };

/** The audit entries of a user, also in the trails of the organizations in which the user is an active member. */
const ofUser = {
  resource: 'user',
  site: 'without-organization',
  id: ({ user }: UserOfOrganizations) => user,
  organizations: ({ organizations }: UserOfOrganizations) => organizations,
} as const;

/** The audit entries of a group. Their teams have entries of their own, in the trails of their organizations. */
const ofGroup = { resource: 'scim_group', site: 'without-organization' } as const;

export const scimEvents = defineEvents(
  { ...PROVISIONING, stream: 'scu' },
  {
    ScimUserProvisioned: {
      schemaVersion: 2,
      // 2: source. Before, no token belonged to an identity provider.
      upcast: { 1: [{ add: { source: 'site' } }] },
      schema: provisionedUser.extend({ ...statement.shape, source: z.string() }),
      audit: { ...ofUser, action: 'provision' },
      personal: ({ user }) => [
        { at: ['userName'], person: user, kind: 'name' },
        { at: ['externalId'], person: user, kind: 'detail' },
      ],
    },
    ScimUserUpdated: {
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
    ScimUserDeprovisioned: { schema: provisionedUser, audit: { ...ofUser, action: 'deprovision' } },
    ScimGroupCreated: {
      schemaVersion: 2,
      // 2: source.
      upcast: { 1: [{ add: { source: 'site' } }] },
      schema: groupNames.extend({ source: z.string() }),
      audit: {
        ...ofGroup,
        action: 'create',
        meta: ({ displayName, source }) => ({ name: displayName, identity_provider: source }),
      },
    },
    ScimGroupUpdated: {
      schema: z.strictObject({ changes: groupChanges, formerKey: z.string().nullable() }),
      audit: { ...ofGroup, action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
    },
    ScimGroupMembersChanged: {
      schema: z.strictObject({ added: users, removed: users }),
      // The entry has numbers instead of ids, because a group can have thousands of members.
      audit: {
        ...ofGroup,
        action: 'update_members',
        meta: ({ added, removed }) => ({ added: added.length, removed: removed.length }),
      },
    },
    ScimGroupDeleted: { schema: z.strictObject({ key: z.string() }), audit: { ...ofGroup, action: 'destroy' } },
  },
) satisfies EventKinds<ScimUserEvent | ScimGroupEvent>;

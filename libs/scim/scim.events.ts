import { z } from 'zod';
import type { EventKinds } from '#kernel';
import type { ScimGroupEvent } from './groups/scim-group.js';
import type { ScimUserEvent } from './users/scim-user.js';

const SITE_EVENT = 'the identity provider is of the site, and a trail of an organization';

const userNames = z.strictObject({ userName: z.string(), externalId: z.string().nullable() });
const userChanges = userNames.partial() as unknown as z.ZodType<
  Extract<ScimUserEvent, { type: 'ScimUserUpdated' }>['data']['changes']
>;
const groupNames = z.strictObject({ displayName: z.string(), externalId: z.string().nullable() });
const groupChanges = groupNames.partial() as unknown as z.ZodType<
  Extract<ScimGroupEvent, { type: 'ScimGroupUpdated' }>['data']['changes']
>;
const users = z.array(z.string()).readonly();

export const scimEvents: EventKinds<ScimUserEvent | ScimGroupEvent> = {
  ScimUserProvisioned: {
    schemaVersion: 1,
    topic: 'access',
    schema: userNames.extend({ user: z.string() }),
    audit: { unaudited: SITE_EVENT },
    personal: ({ user }) => [
      { at: ['userName'], person: user, kind: 'name' },
      { at: ['externalId'], person: user, kind: 'detail' },
    ],
  },
  ScimUserUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ user: z.string(), changes: userChanges }),
    audit: { unaudited: SITE_EVENT },
    personal: ({ user }) => [
      { at: ['changes', 'userName'], person: user, kind: 'name' },
      { at: ['changes', 'externalId'], person: user, kind: 'detail' },
    ],
  },
  ScimUserDeprovisioned: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ user: z.string() }),
    audit: { unaudited: `${SITE_EVENT}; the suspension of the user is audited` },
  },
  ScimGroupCreated: { schemaVersion: 1, topic: 'access', schema: groupNames, audit: { unaudited: SITE_EVENT } },
  ScimGroupUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ changes: groupChanges }),
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
    schema: z.strictObject({}),
    audit: { unaudited: SITE_EVENT },
  },
};

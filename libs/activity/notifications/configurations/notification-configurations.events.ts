import { z } from 'zod';
import { defineEvents, type EventKinds } from '#platform/kernel';
import { optionalMembers } from '#api/json-api/rules';
import { DESTINATION_TYPES } from './destinations.js';
import type { NotificationConfigurationEvent, Subscribable } from './notification-configuration.js';
import { SUBSCRIBABLE_TYPES, TRIGGERS } from './triggers.js';

const subscribable = z.strictObject({
  type: z.enum(SUBSCRIBABLE_TYPES),
  id: z.string(),
}) satisfies z.ZodType<Subscribable>;

const settings = z.strictObject({
  name: z.string(),
  triggers: z.array(z.enum(TRIGGERS)),
  host: z.string().nullable(),
  hasToken: z.boolean(),
  users: z.array(z.string()),
});

const topic = 'notification-configurations';
const resource = 'notification_configuration';

/** Returns the owner as the entries of other resources name it: `workspace_id`. */
const describeOwner = ({ type, id }: Subscribable): Readonly<Record<string, string>> => ({
  [`${type.slice(0, -1)}_id`]: id,
});

type UpdateData = Extract<NotificationConfigurationEvent, { type: 'NotificationConfigurationUpdated' }>['data'];

/** `url` and `token` say that the secrets were replaced; host and `hasToken` follow from that. */
const listChangedAttributes = ({ changes: { name, triggers, users }, replaced }: UpdateData): readonly string[] => [
  ...(name === undefined ? [] : ['name']),
  ...(triggers === undefined ? [] : ['triggers']),
  ...(users === undefined ? [] : ['users']),
  ...replaced,
];

export const notificationConfigurationEvents = defineEvents(
  {
    topic: topic,
    stream: 'nc',
    live: { unsent: 'an event of a notification configuration, which few callers may read' },
  },
  {
    NotificationConfigurationCreated: {
      // 2: destinations by e-mail, with `users` and without a host.
      schemaVersion: 2,
      upcast: { 1: [{ add: { users: [] } }] },
      schema: settings.extend({ subscribable, destinationType: z.enum(DESTINATION_TYPES), enabled: z.boolean() }),
      audit: {
        resource,
        action: 'create',
        meta: ({ name, destinationType, host, enabled, users, subscribable: owner }) => ({
          name,
          destination_type: destinationType,
          ...(host === null ? { user_ids: users } : { host }),
          enabled,
          ...describeOwner(owner),
        }),
      },
      ids: { refersTo: { 'subscribable.id': ['ws', 'team', 'org'], 'users[]': ['user'] } },
    },
    NotificationConfigurationUpdated: {
      schemaVersion: 2,
      upcast: { 1: [] },
      schema: z.strictObject({
        changes: optionalMembers(settings),
        replaced: z.array(z.enum(['url', 'token'])),
      }),
      audit: {
        resource,
        action: 'update',
        meta: (data) => ({
          attributes: listChangedAttributes(data),
          ...(data.changes.host ? { host: data.changes.host } : {}),
          ...(data.changes.users === undefined ? {} : { user_ids: data.changes.users }),
        }),
      },
      ids: { refersTo: { 'changes.users[]': ['user'] } },
    },
    NotificationConfigurationEnabled: { schema: z.strictObject({}), audit: { resource, action: 'enable' } },
    NotificationConfigurationDisabled: {
      schema: z.strictObject({}),
      audit: { resource, action: 'update', meta: () => ({ attributes: ['enabled'] }) },
    },
    NotificationConfigurationDeleted: {
      schema: z.strictObject({ name: z.string(), subscribable }),
      audit: {
        resource,
        action: 'destroy',
        meta: ({ name, subscribable: owner }) => ({ name, ...describeOwner(owner) }),
      },
      ids: { refersTo: { 'subscribable.id': ['ws', 'team', 'org'] } },
    },
  },
) satisfies EventKinds<NotificationConfigurationEvent>;

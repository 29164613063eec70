import { sql, type OrganizationDeleted, type Projection, type Sql, type WorkspaceDeleted } from '#platform/kernel';
import { buildSecretDeletion } from '#storage/vault';
import type { OrganizationEvent } from '#organizations/organizations';
import type { TeamDeleted } from '#identity/people';
import type { NotificationConfigurationEvent } from './notification-configuration.js';

type SubscribableDeleted = WorkspaceDeleted | TeamDeleted | OrganizationDeleted;
type OrganizationImported = Extract<OrganizationEvent, { type: 'OrganizationImported' }>;

const deleteOf = (owner: string): Sql => sql`delete from notification_configurations where subscribable = ${owner}`;

export const notificationConfigurations: Projection<
  NotificationConfigurationEvent | SubscribableDeleted | OrganizationImported
> = {
  name: 'notification_configurations',
  // 2: `users`.
  version: 2,
  tables: ['notification_configurations'],
  on: {
    NotificationConfigurationCreated: (data, { stream, organization, time }) => sql`
      insert into notification_configurations
        (id, organization, subscribable_type, subscribable, name, destination_type, host, triggers, users, enabled,
         notifies_from, created_at, updated_at)
      values (${stream}, ${organization}, ${data.subscribable.type}, ${data.subscribable.id}, ${data.name},
              ${data.destinationType}, ${data.host}, ${data.triggers}::text[], ${data.users}::text[], ${data.enabled},
              ${time}, ${time}, ${time})`,
    NotificationConfigurationUpdated: ({ changes }, { stream, time }) => sql`
      update notification_configurations
         set name = coalesce(${changes.name ?? null}, name), host = coalesce(${changes.host ?? null}, host),
             triggers = coalesce(${changes.triggers ?? null}::text[], triggers),
             users = coalesce(${changes.users ?? null}::text[], users), updated_at = ${time}
       where id = ${stream}`,
    NotificationConfigurationEnabled: (_, { stream, time }) => sql`
      update notification_configurations set enabled = true, notifies_from = ${time}, updated_at = ${time}
       where id = ${stream}`,
    NotificationConfigurationDisabled: (_, { stream, time }) =>
      sql`update notification_configurations set enabled = false, updated_at = ${time} where id = ${stream}`,
    NotificationConfigurationDeleted: (_, { stream }) =>
      sql`delete from notification_configurations where id = ${stream}`,
    WorkspaceDeleted: (_, { stream }) => deleteOf(stream),
    TeamDeleted: (_, { stream }) => deleteOf(stream),
    // The events of an imported organization are in the log again. They were notified where they happened.
    OrganizationImported: (_, { stream, time }) =>
      sql`update notification_configurations set notifies_from = ${time} where organization = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from notification_configurations where organization = ${stream}`,
  },
};

type ConfigurationEnd =
  Extract<NotificationConfigurationEvent, { type: 'NotificationConfigurationDeleted' }> | SubscribableDeleted;

const deleteSecretsAndDeliveries = (configurations: Sql): readonly Sql[] => [
  buildSecretDeletion(configurations),
  sql`delete from notifications.deliveries where configuration in (${configurations})`,
];

const deleteOwned = (owner: string): readonly Sql[] =>
  deleteSecretsAndDeliveries(sql`select id from notification_configurations where subscribable = ${owner}`);

/**
 * Deletes URL, token and deliveries with their configuration. `tables` is empty, because neither is a view. It is listed
 * before the projection above, because it finds configurations by their rows. The vault deletes secrets of an organization
 * itself.
 */
export const endedNotificationConfigurations: Projection<ConfigurationEnd> = {
  name: 'ended_notification_configurations',
  tables: [],
  on: {
    NotificationConfigurationDeleted: (_, { stream }) => deleteSecretsAndDeliveries(sql`${stream}`),
    WorkspaceDeleted: (_, { stream }) => deleteOwned(stream),
    TeamDeleted: (_, { stream }) => deleteOwned(stream),
    OrganizationDeleted: (_, { stream }) => sql`delete from notifications.deliveries where organization = ${stream}`,
  },
};

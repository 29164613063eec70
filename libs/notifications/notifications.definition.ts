import { defineAggregate, toProjection, type ModuleDefinition } from '#event-store';
import { notificationConfiguration } from './configurations/notification-configuration.js';
import { notificationConfigurationEvents } from './configurations/notification-configurations.events.js';
import {
  endedNotificationConfigurations,
  notificationConfigurations,
} from './configurations/notification-configurations.projection.js';
import { RESPONSES_PURPOSE } from './configurations/notification-secrets.service.js';
import { notificationsFollower } from './deliveries/notifications.follower.js';

export const notificationsDefinition: ModuleDefinition = {
  name: 'notifications',
  kinds: notificationConfigurationEvents,
  aggregates: [defineAggregate('nc', notificationConfiguration)],
  projections: [toProjection(endedNotificationConfigurations), toProjection(notificationConfigurations)],
  followers: [notificationsFollower],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'notifications.deliveries',
      backup: 'rows',
      organizationExport: { without: 'notifications are sent where their events happened' },
    },
  ],
  encryptedColumns: [{ table: 'notifications.deliveries', id: 'id', column: 'response', purpose: RESPONSES_PURPOSE }],
};

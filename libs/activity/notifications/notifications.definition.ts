import type { EventRegistry } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { notificationConfiguration } from './configurations/notification-configuration.js';
import { notificationConfigurationEvents } from './configurations/notification-configurations.events.js';
import {
  endedNotificationConfigurations,
  notificationConfigurations,
} from './configurations/notification-configurations.projection.js';
import { RESPONSES_PURPOSE } from './configurations/notification-secrets.service.js';
import { createNotificationsFollower } from './deliveries/notifications.follower.js';

export const notificationsDefinition: ModuleDefinition = {
  name: 'notifications',
  kinds: notificationConfigurationEvents,
  aggregates: [defineAggregate('nc', notificationConfiguration)],
  projections: [toProjection(endedNotificationConfigurations), toProjection(notificationConfigurations)],
  followers: [],
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

/** The follower that stores deliveries for events of all modules. */
export const createNotificationDeliveriesDefinition = (registry: EventRegistry): ModuleDefinition => ({
  name: 'notification-deliveries',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [createNotificationsFollower(registry)],
  migrations: null,
});

import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { type EventRegistry, Clock } from '#platform/kernel';
import type { EncryptionKeys } from '#platform/encryption';
import { createMailer, type MailServer } from '#platform/outbound';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { Vault } from '#storage/vault';
import { notificationConfiguration } from './configurations/notification-configuration.js';
import { notificationConfigurationEvents } from './configurations/notification-configurations.events.js';
import {
  endedNotificationConfigurations,
  notificationConfigurations,
} from './configurations/notification-configurations.view.js';
import { RESPONSES_PURPOSE, NotificationSecrets } from './configurations/notification-secrets.service.js';
import { createNotificationsFollower } from './deliveries/notifications.follower.js';
import { NotificationConfigurationsController } from './configurations/notification-configurations.controller.js';
import { NotificationConfigurationsHandler } from './configurations/notification-configurations.handler.js';
import { NotificationConfigurationsRenderer } from './configurations/notification-configurations.renderer.js';
import { VerificationService } from './configurations/verification.service.js';
import { MailNotificationSender } from './deliveries/mail-notification.sender.js';
import { NotificationDeliveriesController } from './deliveries/notification-deliveries.controller.js';
import { createDestinationFetch, NotificationSender } from './deliveries/notification.sender.js';

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

type NotificationsOptions = {
  readonly encryptionKeys: EncryptionKeys;
  /** Hosts with private addresses that destinations may have. */
  readonly outboundPrivateHosts: readonly string[];
  /** Null without a mail server: notifications cannot be sent by e-mail. */
  readonly smtp: MailServer | null;
  readonly publicUrl: string;
};

@Module({
  imports: [CqrsModule],
  controllers: [NotificationConfigurationsController, NotificationDeliveriesController],
  providers: [NotificationConfigurationsHandler],
})
export class NotificationsModule {
  static with({ encryptionKeys, outboundPrivateHosts, smtp, publicUrl }: NotificationsOptions): DynamicModule {
    return {
      module: NotificationsModule,
      providers: [
        {
          provide: NotificationSecrets,
          useFactory: (vault: Vault) => new NotificationSecrets(vault, encryptionKeys),
          inject: [Vault],
        },
        {
          provide: NotificationConfigurationsRenderer,
          useFactory: (secrets: NotificationSecrets) => new NotificationConfigurationsRenderer(secrets),
          inject: [NotificationSecrets],
        },
        {
          provide: VerificationService,
          useFactory: (clock: Clock) =>
            new VerificationService(
              new NotificationSender(createDestinationFetch(outboundPrivateHosts), clock),
              new MailNotificationSender(smtp && createMailer(smtp), clock, publicUrl),
              clock,
            ),
          inject: [Clock],
        },
      ],
    };
  }
}

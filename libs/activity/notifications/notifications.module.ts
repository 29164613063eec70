import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { EncryptionKeys } from '#platform/encryption';
import { Clock } from '#platform/kernel';
import { createMailer, type MailServer } from '#platform/outbound';
import { Vault } from '#storage/vault';
import { NotificationConfigurationsController } from './configurations/notification-configurations.controller.js';
import { NotificationConfigurationsHandler } from './configurations/notification-configurations.handler.js';
import { NotificationConfigurationsRenderer } from './configurations/notification-configurations.renderer.js';
import { NotificationSecrets } from './configurations/notification-secrets.service.js';
import { VerificationService } from './configurations/verification.service.js';
import { MailNotificationSender } from './deliveries/mail-notification.sender.js';
import { NotificationDeliveriesController } from './deliveries/notification-deliveries.controller.js';
import { createDestinationFetch, NotificationSender } from './deliveries/notification.sender.js';

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

import { sql, type Sql } from '#platform/kernel';
import type { DeliveryResponse } from '../deliveries/notification.sender.js';
import type { NotificationSecrets } from './notification-secrets.service.js';
import { VERIFICATION } from './triggers.js';

export type StoredVerification = {
  readonly id: string;
  readonly configuration: string;
  readonly organization: string;
  readonly host: string;
  readonly response: DeliveryResponse;
};

/** Returns the statements that replace the verification of a configuration. Only the last one is stored. */
export const storeVerification = (
  secrets: NotificationSecrets,
  { id, configuration, organization, host, response }: StoredVerification,
): readonly Sql[] => [
  sql`delete from notifications.deliveries where configuration = ${configuration} and trigger = ${VERIFICATION}`,
  sql`
  insert into notifications.deliveries
    (id, configuration, organization, trigger, subject, host, status, attempts, created_at, attempted_at, response)
  values (${id}, ${configuration}, ${organization}, ${VERIFICATION}, '{}', ${host},
          ${response.successful ? 'delivered' : 'failed'}, 1, ${response.sentAt}, ${response.sentAt},
          ${secrets.encryptResponse(id, response)})`,
];

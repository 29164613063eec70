import { sql, unprocessable, type Sql } from '#kernel';
import { omitUndefined } from '#json-api';
import { checkToken, parseHost, type Destination, type DestinationType } from './destinations.js';
import type { NotificationConfigurationCommand, ReplacedSecret } from './notification-configuration.js';
import type { NotificationConfigurationUpdate } from './notification-configurations.commands.js';

type UpdateCommand = Extract<NotificationConfigurationCommand, { type: 'UpdateNotificationConfiguration' }>;

type NotificationConfigurationChange = {
  /** The destination after the change. */
  readonly destination: Destination;
  readonly command: UpdateCommand;
};

/**
 * Returns the command for an update, which contains no secret, and the destination after it. Throws 422 for a URL or token
 * that is not valid, and for another type of destination.
 */
export const toConfigurationChange = (
  update: NotificationConfigurationUpdate,
  before: { readonly destination: Destination; readonly type: DestinationType },
): NotificationConfigurationChange => {
  const { name, triggers, enabled, destinationType = before.type } = update;
  if (destinationType !== before.type) {
    throw unprocessable(
      `Destination type cannot change from ${before.type} to ${destinationType}. Create another configuration`,
      'destination-type',
    );
  }
  checkToken(update.token, before.type);
  const { url, token } = before.destination;
  const destination = { url: update.url ?? url, token: update.token === undefined ? token : update.token };
  const host = parseHost(destination.url);
  const replaced: readonly ReplacedSecret[] = [
    ...(destination.url === url ? [] : (['url'] as const)),
    ...(destination.token === token ? [] : (['token'] as const)),
  ];
  const changes = { ...omitUndefined({ name, triggers }), host, hasToken: destination.token !== null };
  return { destination, command: { type: 'UpdateNotificationConfiguration', data: { changes, enabled, replaced } } };
};

/** Deliveries to one host share a limit, so those that are due follow their configuration to its new host. */
export const moveDueDeliveries = (configuration: string, host: string): Sql => sql`
  update notifications.deliveries set host = ${host}
   where configuration = ${configuration} and status = 'pending' and host <> ${host}`;

import { sql, unprocessable, type Sql } from '#platform/kernel';
import { omitUndefined } from '#api/json-api';
import {
  checkActiveMembers,
  checkDestinationMembers,
  checkToken,
  parseHost,
  type Destination,
  type DestinationType,
} from './destinations.js';
import type { NotificationConfigurationCommand, ReplacedSecret } from './notification-configuration.js';
import type {
  NewNotificationConfiguration,
  NotificationConfigurationUpdate,
} from './notification-configurations.commands.js';

type UpdateCommand = Extract<NotificationConfigurationCommand, { type: 'UpdateNotificationConfiguration' }>;

/** A destination with its host; both are null for e-mail. */
type ParsedDestination =
  { readonly destination: Destination; readonly host: string } | { readonly destination: null; readonly host: null };

/**
 * Returns the destination of a new configuration. Throws 422 for members that its type does not have, and for values that are
 * not valid. `members` are the active members of the organization among the users.
 */
export const parseNewDestination = (
  { destinationType: type, url, token, users }: NewNotificationConfiguration,
  members: readonly string[],
): ParsedDestination => {
  checkDestinationMembers({ url, users }, type);
  checkToken(token, type);
  checkActiveMembers(users, members);
  return type === 'email' ? { destination: null, host: null } : { destination: { url, token }, host: parseHost(url) };
};

type NotificationConfigurationChange = {
  /** The destination after the change. */
  readonly destination: Destination | null;
  readonly command: UpdateCommand;
};

export type ConfigurationBeforeUpdate = {
  /** Null for e-mail. */
  readonly destination: Destination | null;
  readonly type: DestinationType;
  readonly members: readonly string[];
};

/**
 * Returns the command for an update, which contains no secret, and the destination after it. Throws 422 for members that are
 * not valid or that the type does not have, and for another type of destination.
 */
export const toConfigurationChange = (
  update: NotificationConfigurationUpdate,
  before: ConfigurationBeforeUpdate,
): NotificationConfigurationChange => {
  const { name, triggers, enabled, users, destinationType = before.type } = update;
  if (destinationType !== before.type) {
    throw unprocessable(
      `Destination type cannot change from ${before.type} to ${destinationType}. Create another configuration`,
      'destination-type',
    );
  }
  checkDestinationMembers(update, before.type);
  checkToken(update.token, before.type);
  checkActiveMembers(users ?? [], before.members);
  const { destination, host, replaced } = changeDestination(update, before.destination);
  const hasToken = destination !== null && destination.token !== null;
  const changes = { ...omitUndefined({ name, triggers, users }), host, hasToken };
  return { destination, command: { type: 'UpdateNotificationConfiguration', data: { changes, enabled, replaced } } };
};

const changeDestination = (
  update: NotificationConfigurationUpdate,
  before: Destination | null,
): ParsedDestination & { readonly replaced: readonly ReplacedSecret[] } => {
  if (before === null) return { destination: null, host: null, replaced: [] };
  const { url, token } = before;
  const destination = { url: update.url ?? url, token: update.token === undefined ? token : update.token };
  const replaced: readonly ReplacedSecret[] = [
    ...(destination.url === url ? [] : (['url'] as const)),
    ...(destination.token === token ? [] : (['token'] as const)),
  ];
  return { destination, host: parseHost(destination.url), replaced };
};

/** Deliveries to one host share a limit, so those that are due follow their configuration to its new host. */
export const moveDueDeliveries = (configuration: string, host: string): Sql => sql`
  update notifications.deliveries set host = ${host}
   where configuration = ${configuration} and status = 'pending' and host <> ${host}`;

import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { DestinationType } from './destinations.js';
import type { NotificationConfigurationRow } from './notification-configurations.view.js';
import type { SubscribableReference } from './subscribables.queries.js';
import type { Trigger } from './triggers.js';

export type NewNotificationConfiguration = {
  readonly name: string;
  readonly destinationType: DestinationType;
  /** Empty for e-mail. */
  readonly url: string;
  readonly token: string | null;
  /** Ids of the people who get e-mails. */
  readonly users: readonly string[];
  readonly triggers: readonly Trigger[];
  readonly enabled: boolean;
};

/** A member that is undefined keeps its value. A token of null removes the token. */
export type NotificationConfigurationUpdate = {
  readonly [K in keyof NewNotificationConfiguration]: NewNotificationConfiguration[K] | undefined;
};

export type NotificationConfigurationOperations = {
  /** If the configuration is enabled, a destination with a URL must answer a test with a status of 2xx first. */
  CreateNotificationConfiguration: Operation<
    { owner: SubscribableReference; settings: NewNotificationConfiguration; actor: Actor },
    NotificationConfigurationRow
  >;
  /** Like the creation. Resolves to null if the configuration has been deleted meanwhile. */
  UpdateNotificationConfiguration: Operation<
    { id: string; update: NotificationConfigurationUpdate; actor: Actor },
    NotificationConfigurationRow | null
  >;
  DeleteNotificationConfiguration: Operation<{ id: string; actor: Actor }, void>;
  /** Sends a test and stores the response. Throws 422 without a response. */
  VerifyNotificationConfiguration: Operation<{ id: string; actor: Actor }, NotificationConfigurationRow | null>;
};

export class ChangeNotificationConfiguration<
  T extends keyof NotificationConfigurationOperations,
> extends AggregateCommand<NotificationConfigurationOperations, T> {}

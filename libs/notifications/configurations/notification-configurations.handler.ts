import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type Sql } from '#kernel';
import {
  AggregateHandler,
  decideWrite,
  EventStore,
  expectVersion,
  getFirstRow,
  getFirstRowOrNull,
  lockStream,
  newStream,
  raiseConflictWhen,
  type OperationTable,
  type StreamVersion,
  type StreamWrite,
} from '#event-store';
import { createEventContext } from '#access';
import { Database } from '#postgres';
import { checkToken, parseHost, type Destination } from './destinations.js';
import { notificationConfiguration } from './notification-configuration.js';
import {
  ChangeNotificationConfiguration,
  type NotificationConfigurationOperations,
} from './notification-configurations.commands.js';
import {
  loadConfiguration,
  selectConfigurationById,
  type NotificationConfigurationRow,
} from './notification-configurations.queries.js';
import { NotificationSecrets } from './notification-secrets.service.js';
import { hasConfigurations, loadSubscribable } from './subscribables.queries.js';
import { moveDueDeliveries, toConfigurationChange } from './updated-configuration.writes.js';
import { describeFailure, VerificationService, type VerificationRequest } from './verification.service.js';
import { storeVerification, type StoredVerification } from './verification.writes.js';

/** The most configurations of a workspace, team or organization, as the vendor allows. */
export const MAX_CONFIGURATIONS = 20;

type Input<Name extends keyof NotificationConfigurationOperations> = NotificationConfigurationOperations[Name]['input'];

const toPreconditions = (versions: readonly StreamVersion[]): StreamWrite[] =>
  versions.map(({ stream, version }) => expectVersion(stream, version));

const refuseLimit = (): never => {
  throw unprocessable(
    `A workspace, team or organization can have at most ${MAX_CONFIGURATIONS} notification configurations. Delete one first`,
  );
};

/** Creations lock this name, so that the number of configurations is exact. No event has this stream. */
const nameLock = (owner: string): string => `notification configurations of ${owner}`;

/** Runs a test once, also if a conflict repeats the decision. Another destination is tested again. */
const rememberVerification = (verify: (request: VerificationRequest) => Promise<StoredVerification>) => {
  let last: { readonly url: string; readonly stored: StoredVerification } | null = null;
  return async (request: VerificationRequest): Promise<StoredVerification> => {
    const { url } = request.destination;
    if (last?.url !== url) last = { url, stored: await verify(request) };
    return last.stored;
  };
};

@CommandHandler(ChangeNotificationConfiguration)
export class NotificationConfigurationsHandler extends AggregateHandler<NotificationConfigurationOperations> {
  protected readonly operations: OperationTable<NotificationConfigurationOperations> = {
    CreateNotificationConfiguration: (input) => this.create(input),
    UpdateNotificationConfiguration: (input) => this.update(input),
    DeleteNotificationConfiguration: (input) => this.delete(input),
    VerifyNotificationConfiguration: (input) => this.verify(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly secrets: NotificationSecrets,
    private readonly verification: VerificationService,
  ) {
    super();
  }

  private async create(input: Input<'CreateNotificationConfiguration'>): Promise<NotificationConfigurationRow> {
    const { owner, settings, actor } = input;
    const { destination, ...attributes } = settings;
    const id = this.ids.next('nc');
    const verify = rememberVerification((request) => this.requireVerification(request));
    return this.store.untilFirst(async () => {
      const parent = await loadSubscribable(this.database, actor, owner);
      if (parent.existing >= MAX_CONFIGURATIONS) refuseLimit();
      const { id: subscribable, organization, subscribableType: type } = parent;
      const host = parseHost(destination.url);
      checkToken(destination.token, settings.destinationType);
      const data = {
        ...attributes,
        host,
        hasToken: destination.token !== null,
        subscribable: { type, id: subscribable },
      };
      const command = { type: 'CreateNotificationConfiguration', data } as const;
      const write = decideWrite(
        notificationConfiguration,
        newStream(id, notificationConfiguration),
        organization,
        command,
      );
      const request = { configuration: id, organization, name: settings.name, type: settings.destinationType };
      const tested = settings.enabled ? [await verify({ ...request, id: this.ids.next('nd'), destination })] : [];
      const { rows } = await this.store.append(
        [...toPreconditions(parent.preconditions), write],
        createEventContext(actor),
        [...this.storeSecrets(id, organization, destination, tested), selectConfigurationById(id)],
        [lockStream(nameLock(subscribable)), raiseConflictWhen(hasConfigurations(subscribable, MAX_CONFIGURATIONS))],
      );
      return getFirstRow<NotificationConfigurationRow>([rows.at(-1) ?? []]);
    });
  }

  private async update(input: Input<'UpdateNotificationConfiguration'>): Promise<NotificationConfigurationRow | null> {
    const { id, update, actor } = input;
    const verify = rememberVerification((request) => this.requireVerification(request));
    return this.store.untilFirst(async () => {
      const row = await loadConfiguration(this.database, actor, id);
      const { organization, destinationType: type, encryptedDestination } = row;
      const before = this.secrets.openDestination(id, encryptedDestination);
      const { destination, command } = toConfigurationChange(update, { destination: before, type });
      const loaded = await this.store.restore(id, notificationConfiguration, row.snapshot);
      const write = decideWrite(notificationConfiguration, loaded, organization, command);
      if (write.events.length === 0) return row;
      const request = { configuration: id, organization, name: update.name ?? row.name, type, destination };
      const tested = (update.enabled ?? row.enabled) ? [await verify({ ...request, id: this.ids.next('nd') })] : [];
      const { rows } = await this.store.append(
        [...toPreconditions(row.preconditions), write],
        createEventContext(actor),
        [
          ...this.storeSecrets(id, organization, destination, tested),
          moveDueDeliveries(id, parseHost(destination.url)),
          selectConfigurationById(id),
        ],
      );
      return getFirstRowOrNull<NotificationConfigurationRow>([rows.at(-1) ?? []]);
    });
  }

  private async delete({ id, actor }: Input<'DeleteNotificationConfiguration'>): Promise<void> {
    await this.store.handle({
      decider: notificationConfiguration,
      load: async () => {
        const row = await loadConfiguration(this.database, actor, id);
        return { ...(await this.store.restore(id, notificationConfiguration, row.snapshot)), row };
      },
      command: () => ({ type: 'DeleteNotificationConfiguration', data: {} }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => toPreconditions(row.preconditions),
      context: createEventContext(actor),
    });
  }

  /** The test changes only what is stored outside the log, so it appends no event. */
  private async verify({
    id,
    actor,
  }: Input<'VerifyNotificationConfiguration'>): Promise<NotificationConfigurationRow | null> {
    const row = await loadConfiguration(this.database, actor, id);
    const { organization, name, destinationType: type } = row;
    const destination = this.secrets.openDestination(id, row.encryptedDestination);
    const delivery = this.ids.next('nd');
    const request = { id: delivery, configuration: id, organization, name, type, destination };
    const response = await this.verification.send(request);
    const host = parseHost(destination.url);
    const stored = { id: delivery, configuration: id, organization, host, response };
    const rows = await this.database.transaction([
      ...storeVerification(this.secrets, stored),
      selectConfigurationById(id),
    ]);
    if (response.code === '') throw unprocessable(describeFailure(response), 'url');
    return getFirstRowOrNull<NotificationConfigurationRow>([rows.at(-1) ?? []]);
  }

  private async requireVerification(request: VerificationRequest): Promise<StoredVerification> {
    const response = await this.verification.requireSuccess(request);
    const { id, configuration, organization, destination } = request;
    return { id, configuration, organization, host: parseHost(destination.url), response };
  }

  private storeSecrets(
    id: string,
    organization: string,
    destination: Destination,
    tested: readonly StoredVerification[],
  ): readonly Sql[] {
    return [
      this.secrets.storeDestination(id, organization, destination),
      ...tested.flatMap((one) => storeVerification(this.secrets, one)),
    ];
  }
}

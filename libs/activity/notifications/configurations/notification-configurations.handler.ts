import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type Sql } from '#platform/kernel';
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
} from '#storage/event-store';
import { createEventContext, changeResource } from '#api/access';
import { Database } from '#platform/postgres';
import { MAIL_HOST, parseHost, type Destination, type DestinationType } from './destinations.js';
import { notificationConfiguration } from './notification-configuration.js';
import {
  ChangeNotificationConfiguration,
  type NotificationConfigurationOperations,
} from './notification-configurations.commands.js';
import {
  loadConfiguration,
  selectConfigurationById,
  type NotificationConfigurationForCommand,
  type NotificationConfigurationRow,
} from './notification-configurations.view.js';
import { NotificationSecrets } from './notification-secrets.service.js';
import { hasConfigurations, loadSubscribable } from './subscribables.queries.js';
import {
  moveDueDeliveries,
  parseNewDestination,
  toConfigurationChange,
  type ConfigurationBeforeUpdate,
} from './updated-configuration.writes.js';
import { describeFailure, VerificationService, type UrlVerification } from './verification.service.js';
import { storeVerification, type StoredVerification } from './verification.writes.js';

/** The most configurations of a workspace, team or organization, as the vendor allows. */
const MAX_CONFIGURATIONS = 20;

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
const rememberVerification = (verify: (request: UrlVerification) => Promise<StoredVerification>) => {
  let last: { readonly url: string; readonly stored: StoredVerification } | null = null;
  return async (request: UrlVerification): Promise<StoredVerification> => {
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
    const { name, destinationType: type, triggers, enabled, users } = settings;
    const id = this.ids.next('nc');
    const test = this.prepareTest();
    return this.store.retryOnConflict(async () => {
      const parent = await loadSubscribable(this.database, actor, owner, users);
      if (parent.existing >= MAX_CONFIGURATIONS) refuseLimit();
      const { id: subscribable, organization, subscribableType } = parent;
      if (type === 'email') this.verification.requireMailServer();
      const { destination, host } = parseNewDestination(settings, parent.members);
      const hasToken = destination !== null && destination.token !== null;
      const data = { name, destinationType: type, triggers, enabled, users, host, hasToken };
      const write = decideWrite(notificationConfiguration, newStream(id, notificationConfiguration), organization, {
        type: 'CreateNotificationConfiguration',
        data: { ...data, subscribable: { type: subscribableType, id: subscribable } },
      });
      const tested = enabled ? await test({ configuration: id, organization, name }, { type, destination }) : [];
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
    const test = this.prepareTest();
    return this.store.retryOnConflict(async () => {
      const row = await loadConfiguration(this.database, actor, id, update.users);
      const { organization, destinationType: type } = row;
      const { destination, command } = toConfigurationChange(update, this.describeBefore(row));
      const loaded = await this.store.restore(id, notificationConfiguration, row.snapshot);
      const write = decideWrite(notificationConfiguration, loaded, organization, command);
      if (write.events.length === 0) return row;
      const enabled = update.enabled ?? row.enabled;
      if (type === 'email' && update.enabled === true) this.verification.requireMailServer();
      const subject = { configuration: id, organization, name: update.name ?? row.name };
      const tested = enabled ? await test(subject, { type, destination }) : [];
      const { rows } = await this.store.append(
        [...toPreconditions(row.preconditions), write],
        createEventContext(actor),
        [
          ...this.storeSecrets(id, organization, destination, tested),
          ...(destination ? [moveDueDeliveries(id, parseHost(destination.url))] : []),
          selectConfigurationById(id),
        ],
      );
      return getFirstRowOrNull<NotificationConfigurationRow>([rows.at(-1) ?? []]);
    });
  }

  private async delete({ id, actor }: Input<'DeleteNotificationConfiguration'>): Promise<void> {
    await changeResource(this.store, notificationConfiguration, {
      actor,
      load: () => loadConfiguration(this.database, actor, id),
      command: { type: 'DeleteNotificationConfiguration', data: {} },
    });
  }

  /** The test changes only what is stored outside the log, so it appends no event. */
  private async verify({
    id,
    actor,
  }: Input<'VerifyNotificationConfiguration'>): Promise<NotificationConfigurationRow | null> {
    const row = await loadConfiguration(this.database, actor, id);
    const { organization, name, destinationType: type, recipients, testedAt } = row;
    const request = { id: this.ids.next('nd'), configuration: id, organization, name };
    const { destination } = this.describeBefore(row);
    const isMail = type === 'email' || destination === null;
    const response = isMail
      ? await this.verification.sendMail({ ...request, recipients: recipients ?? [], testedAt })
      : await this.verification.send({ ...request, type, destination });
    const host = isMail ? MAIL_HOST : parseHost(destination.url);
    const rows = await this.database.transaction([
      ...storeVerification(this.secrets, { id: request.id, configuration: id, organization, host, response }),
      selectConfigurationById(id),
    ]);
    if (response.code === '') {
      throw isMail
        ? unprocessable(`No e-mail could be sent: ${response.body}`)
        : unprocessable(describeFailure(response), 'url');
    }
    return getFirstRowOrNull<NotificationConfigurationRow>([rows.at(-1) ?? []]);
  }

  private describeBefore(row: NotificationConfigurationForCommand): ConfigurationBeforeUpdate {
    const { id, destinationType: type, encryptedDestination, members } = row;
    return {
      type,
      members,
      destination: type === 'email' ? null : this.secrets.openDestination(id, encryptedDestination),
    };
  }

  /** Returns a function that tests a destination with a URL. E-mails are tested only if a caller requests it. */
  private prepareTest() {
    const verify = rememberVerification((request) => this.requireVerification(request));
    return async (
      subject: Pick<UrlVerification, 'configuration' | 'organization' | 'name'>,
      { type, destination }: { readonly type: DestinationType; readonly destination: Destination | null },
    ): Promise<readonly StoredVerification[]> =>
      type === 'email' || destination === null
        ? []
        : [await verify({ ...subject, id: this.ids.next('nd'), type, destination })];
  }

  private async requireVerification(request: UrlVerification): Promise<StoredVerification> {
    const response = await this.verification.requireSuccess(request);
    const { id, configuration, organization, destination } = request;
    return { id, configuration, organization, host: parseHost(destination.url), response };
  }

  private storeSecrets(
    id: string,
    organization: string,
    destination: Destination | null,
    tested: readonly StoredVerification[],
  ): readonly Sql[] {
    return [
      ...(destination ? [this.secrets.storeDestination(id, organization, destination)] : []),
      ...tested.flatMap((one) => storeVerification(this.secrets, one)),
    ];
  }
}

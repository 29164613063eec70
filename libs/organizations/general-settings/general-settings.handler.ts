import { CommandHandler } from '@nestjs/cqrs';
import { changeResource, type Actor } from '#api/access';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { generalSettings, type GeneralSettingsChanges } from './general-settings.js';
import { loadGeneralSettings } from './general-settings.view.js';
import { StoredTokenRateLimit } from './token-rate-limit.service.js';

type GeneralSettingsOperations = {
  ChangeGeneralSettings: Operation<{ changes: GeneralSettingsChanges; actor: Actor }, void>;
};

export class ChangeGeneralSettings<T extends keyof GeneralSettingsOperations> extends AggregateCommand<
  GeneralSettingsOperations,
  T
> {}

@CommandHandler(ChangeGeneralSettings)
export class GeneralSettingsHandler extends AggregateHandler<GeneralSettingsOperations> {
  protected readonly operations: OperationTable<GeneralSettingsOperations> = {
    ChangeGeneralSettings: async ({ changes, actor }) => {
      await changeResource(this.store, generalSettings, {
        actor,
        load: () => loadGeneralSettings(this.store.database, actor),
        command: { type: 'ChangeGeneralSettings', data: { changes } },
      });
      // Other gateways read the limit again within ten seconds.
      await this.rateLimit.refresh();
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly rateLimit: StoredTokenRateLimit,
  ) {
    super();
  }
}

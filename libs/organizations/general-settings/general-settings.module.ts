import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { TokenRateLimit } from '#api/access';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { generalSettings, generalSettingsEvents } from './general-settings.js';
import { GeneralSettingsController } from './general-settings.controller.js';
import { GeneralSettingsHandler } from './general-settings.handler.js';
import { generalSettingsView } from './general-settings.view.js';
import { ServerDefaults } from './server-defaults.js';
import { StoredTokenRateLimit } from './token-rate-limit.service.js';

export const generalSettingsDefinition: ModuleDefinition = {
  name: 'general-settings',
  kinds: generalSettingsEvents,
  aggregates: [defineAggregate('gset', generalSettings)],
  projections: [toProjection(generalSettingsView)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

@Module({
  imports: [CqrsModule],
  controllers: [GeneralSettingsController],
  providers: [
    GeneralSettingsHandler,
    StoredTokenRateLimit,
    { provide: TokenRateLimit, useExisting: StoredTokenRateLimit },
  ],
})
export class GeneralSettingsModule {
  static with(defaults: ServerDefaults): DynamicModule {
    return { module: GeneralSettingsModule, providers: [{ provide: ServerDefaults, useValue: defaults }] };
  }
}

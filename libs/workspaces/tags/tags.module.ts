import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { reservedTagKey, tagEvents } from './reserved-tag-keys/reserved-tag-key.js';
import { reservedTagKeys } from './reserved-tag-keys/reserved-tag-keys.view.js';
import { EffectiveTagBindingsController } from './tag-bindings/effective-tag-bindings.controller.js';
import { ReservedTagKeysController } from './reserved-tag-keys/reserved-tag-keys.controller.js';
import { ReservedTagKeysHandler } from './reserved-tag-keys/reserved-tag-keys.handler.js';
import { TagBindingsController } from './tag-bindings/tag-bindings.controller.js';
import { TagComplianceGapsController } from './compliance/tag-compliance-gaps.controller.js';
import { TagComplianceStatisticsController } from './compliance/tag-compliance-statistics.controller.js';
import { TagOverridesController } from './compliance/tag-overrides.controller.js';
import { TagsController } from './flat-tags/tags.controller.js';

export const tagsDefinition: ModuleDefinition = {
  name: 'tags',
  kinds: tagEvents,
  aggregates: [defineAggregate('rtk', reservedTagKey)],
  projections: [toProjection(reservedTagKeys)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

@Module({
  imports: [CqrsModule],
  controllers: [
    EffectiveTagBindingsController,
    ReservedTagKeysController,
    TagBindingsController,
    TagComplianceGapsController,
    TagComplianceStatisticsController,
    TagOverridesController,
    TagsController,
  ],
  providers: [ReservedTagKeysHandler],
})
export class TagsModule {}

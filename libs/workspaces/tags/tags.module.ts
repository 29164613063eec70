import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { EffectiveTagBindingsController } from './tag-bindings/effective-tag-bindings.controller.js';
import { ReservedTagKeysController } from './reserved-tag-keys/reserved-tag-keys.controller.js';
import { ReservedTagKeysHandler } from './reserved-tag-keys/reserved-tag-keys.handler.js';
import { TagBindingsController } from './tag-bindings/tag-bindings.controller.js';
import { TagComplianceGapsController } from './compliance/tag-compliance-gaps.controller.js';
import { TagOverridesController } from './compliance/tag-overrides.controller.js';
import { TagsController } from './flat-tags/tags.controller.js';

@Module({
  imports: [CqrsModule],
  controllers: [
    EffectiveTagBindingsController,
    ReservedTagKeysController,
    TagBindingsController,
    TagComplianceGapsController,
    TagOverridesController,
    TagsController,
  ],
  providers: [ReservedTagKeysHandler],
})
export class TagsModule {}

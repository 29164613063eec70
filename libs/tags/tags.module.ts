import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { EffectiveTagBindingsController } from './effective-tag-bindings.controller.js';
import { ReservedTagKeysController } from './reserved-tag-keys.controller.js';
import { CreateReservedTagKeyHandler, ReservedTagKeysHandler } from './reserved-tag-keys.handler.js';
import { TagBindingsController } from './tag-bindings.controller.js';
import { TagComplianceGapsController } from './tag-compliance-gaps.controller.js';
import { TagOverridesController } from './tag-overrides.controller.js';
import { TagsController } from './tags.controller.js';

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
  providers: [CreateReservedTagKeyHandler, ReservedTagKeysHandler],
})
export class TagsModule {}

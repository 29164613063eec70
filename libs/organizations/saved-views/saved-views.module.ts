import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { savedView, savedViewEvents } from './saved-view.js';
import { SAVED_VIEW_NAMES, savedViewNames, savedViews } from './saved-views.view.js';
import { SavedViewsController } from './saved-views.controller.js';
import { SavedViewsHandler } from './saved-views.handler.js';

export const savedViewsDefinition: ModuleDefinition = {
  name: 'saved-views',
  kinds: savedViewEvents,
  aggregates: [defineAggregate('sview', savedView)],
  projections: [toProjection(savedViews), toProjection(savedViewNames)],
  followers: [],
  uniqueNames: [SAVED_VIEW_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};

@Module({
  imports: [CqrsModule],
  controllers: [SavedViewsController],
  providers: [SavedViewsHandler],
})
export class SavedViewsModule {}

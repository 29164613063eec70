import { defineAggregate, toEventRegistry, toProjection, type ModuleDefinition } from '#event-store';
import { savedView } from './saved-view.js';
import { savedViewEvents } from './saved-views.events.js';
import { savedViews } from './saved-views.projection.js';

export const savedViewsDefinition: ModuleDefinition = {
  name: 'saved-views',
  kinds: toEventRegistry(savedViewEvents),
  aggregates: [defineAggregate('sview', savedView)],
  projections: [toProjection(savedViews)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

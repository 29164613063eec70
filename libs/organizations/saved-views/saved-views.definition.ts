import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { savedView } from './saved-view.js';
import { savedViewEvents } from './saved-view.js';
import { SAVED_VIEW_NAMES } from './saved-view-names.js';
import { savedViewNames, savedViews } from './saved-views.projection.js';

export const savedViewsDefinition: ModuleDefinition = {
  name: 'saved-views',
  kinds: savedViewEvents,
  aggregates: [defineAggregate('sview', savedView)],
  projections: [toProjection(savedViews), toProjection(savedViewNames)],
  followers: [],
  uniqueNames: [SAVED_VIEW_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};

import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { reservedTagKey } from './reserved-tag-keys/reserved-tag-key.js';
import { reservedTagKeys } from './reserved-tag-keys/reserved-tag-keys.projection.js';
import { tagEvents } from './reserved-tag-keys/reserved-tag-key.js';

export const tagsDefinition: ModuleDefinition = {
  name: 'tags',
  kinds: tagEvents,
  aggregates: [defineAggregate('rtk', reservedTagKey)],
  projections: [toProjection(reservedTagKeys)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

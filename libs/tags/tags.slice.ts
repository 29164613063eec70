import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { projectTags } from './project-tags.projection.js';
import { reservedTagKey } from './reserved-tag-key.js';
import { reservedTagKeys } from './reserved-tag-keys.projection.js';
import { tagEvents } from './tags.events.js';

export const tagsSlice: Slice = {
  name: 'tags',
  kinds: kindsOf(tagEvents),
  aggregates: [aggregate('rtk', reservedTagKey)],
  projections: [projectionOf(projectTags), projectionOf(reservedTagKeys)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

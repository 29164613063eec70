export type { ReservedTagKeyEvent } from './reserved-tag-keys/reserved-tag-key.js';
export { publishedReservedTagKeys } from './reserved-tag-keys/reserved-tag-keys.published.js';
export { TagsModule } from './tags.module.js';
export { tagsDefinition } from './tags.definition.js';

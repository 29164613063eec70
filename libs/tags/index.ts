export type { ReservedTagKeyEvent } from './reserved-tag-keys/reserved-tag-key.js';
export { TagsModule } from './tags.module.js';
export { tagsDefinition } from './tags.definition.js';

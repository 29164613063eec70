export type { ReservedTagKeyEvent } from './reserved-tag-key.js';
export { TagsModule } from './tags.module.js';
export { tagsDefinition } from './tags.slice.js';

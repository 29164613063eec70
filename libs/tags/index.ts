export type { ReservedTagKeyEvent } from './reserved-tag-key.js';
export { TagsModule } from './tags.module.js';
export { tagsSlice } from './tags.slice.js';

export { publishedReservedTagKeys } from './reserved-tag-keys/reserved-tag-keys.published.js';
export { TagsModule, tagsDefinition } from './tags.module.js';

export {
  IS_VALUELESS,
  selectTagName,
  selectTagNames,
  selectTagOrganization,
  selectVisibleTags,
} from './flat-tags.queries.js';
export {
  selectFixedKeys,
  raiseConflictWhenFixedKeysChanged,
  PROJECT_TAGS,
  type TagBindingColumns,
} from './tag-inheritance.queries.js';
export {
  renderEffectiveTagBinding,
  deriveTagBindingId,
  renderTagBinding,
  deriveTagId,
} from './tag-bindings.document.js';
export {
  listProjectBindings,
  selectProjectBindings,
  listWorkspaceBindings,
  selectWorkspaceBindings,
  type BindingRow,
} from './tag-bindings.queries.js';
export {
  selectRelatedEffectiveTagBindings,
  selectRelatedProjectTagBindings,
  selectRelatedTagBindings,
} from './tag-bindings.related.js';
export { selectTagGaps, selectWorkspacesTaggedWith, selectWorkspacesWithTagGaps } from './tag-gaps.queries.js';
export { listTagIds, resolveTagNames, type TagNames, type TagReference } from './tag-references.js';
export { publishedBindings } from './tag-bindings.published.js';
export { parseTagFilter, TAG_FILTERS, type TagFilterTerm } from './tag.filter.js';
export {
  parseBindings,
  toBindings,
  parseFlatTags,
  flatTagsInput,
  tagBindingsBody,
  tagBindingsInput,
  parseTagsToRemove,
} from './tags.body.js';

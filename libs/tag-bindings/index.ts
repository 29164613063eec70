export { IS_VALUELESS, nameOfTag, namesOfTags, ownerWhere, seenTags } from './carried-tags.queries.js';
export { fixedKeys, fixedKeysChanged, PROJECT_TAGS, type BoundTag } from './inheritance.queries.js';
export { effectiveTagBindingResource, tagBindingId, tagBindingResource, tagId } from './tag-bindings.document.js';
export {
  bindingsOfProject,
  bindingsOfProjects,
  bindingsOfWorkspace,
  bindingsOfWorkspaces,
  type BindingRow,
} from './tag-bindings.queries.js';
export { relatedEffectiveTagBindings, relatedProjectTagBindings, relatedTagBindings } from './tag-bindings.related.js';
export { idsAmong, namesOf, type TagNames, type TagReference } from './tag-references.js';
export { taggedIn, type Tagged } from './tagged.filter.js';
export { bindingsIn, bindingsOf, flatTagsIn, flatTagsInput, tagBindingsInput, tagsToRemove } from './tags.body.js';

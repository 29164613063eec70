export { IS_VALUELESS, nameOfTag, namesOfTags, ownerWhere } from './carried-tags.queries.js';
export { fixedKeys, fixedKeysChanged, PROJECT_TAGS } from './inheritance.queries.js';
export { tagBindingId } from './tag-bindings.document.js';
export { bindingsOfProjects, bindingsOfWorkspaces, type BindingRow } from './tag-bindings.queries.js';
export { relatedEffectiveTagBindings, relatedProjectTagBindings, relatedTagBindings } from './tag-bindings.related.js';
export { bindingsOf, flatTagsIn, flatTagsInput, tagBindingsInput } from './tags.body.js';
export { taggedIn, type Tagged } from './tagged.filter.js';
export { idsAmong, namesOf, type TagNames, type TagReference } from './tag-references.js';

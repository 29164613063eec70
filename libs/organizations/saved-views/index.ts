export type { SavedViewEvent } from './saved-view.js';
export { SavedViewsModule, savedViewsDefinition } from './saved-views.module.js';

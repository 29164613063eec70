export type { SavedViewEvent } from './saved-view.js';
export { SavedViewsModule } from './saved-views.module.js';
export { savedViewsDefinition } from './saved-views.definition.js';

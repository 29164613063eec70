export { SavedViewsModule, savedViewsDefinition } from './saved-views.module.js';

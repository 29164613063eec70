export { liveEventsDefinition } from './live-events.definition.js';
export { LiveEventsModule, type LiveEventsOptions } from './live-events.module.js';

export { liveEventsDefinition, LiveEventsModule, type LiveEventsOptions } from './live-events.module.js';

import { kindsOf, type Slice } from '#event-store';
import { factEvents } from './facts.events.js';

/** No table of its own: facts are in the log, and in the trail. */
export const factsSlice: Slice = {
  name: 'facts',
  kinds: kindsOf(factEvents),
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

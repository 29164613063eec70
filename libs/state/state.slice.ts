import { projectionOf, type Slice } from '#event-store';
import { stateVersionOutputs, stateVersions } from './state.projection.js';

/** Views and files of state; the rules, and so the events, are the workspace's. */
export const stateSlice: Slice = {
  name: 'state',
  kinds: {},
  aggregates: [],
  projections: [projectionOf(stateVersions), projectionOf(stateVersionOutputs)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

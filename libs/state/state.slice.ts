import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { backingData } from './backing-data.js';
import { stateReads } from './reads.events.js';
import { backingDataEvents } from './state.events.js';
import { stateVersionOutputs, stateVersions } from './state.projection.js';

/** Views and files of state; the rules of its versions, and so most events, are the workspace's. */
export const stateSlice: Slice = {
  name: 'state',
  kinds: { ...kindsOf(backingDataEvents), ...kindsOf(stateReads) },
  aggregates: [aggregate('sv', backingData)],
  projections: [projectionOf(stateVersions), projectionOf(stateVersionOutputs)],
  // The sweeper is none of these: it wants the files, which only the processes know (apps/slices.ts).
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
